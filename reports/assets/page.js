// Draws every chart of the page and says on the root element how it went (data-charts-expected,
// data-charts-rendered, data-chart-errors).
'use strict';
(() => {
  const root = document.documentElement;
  const charts = Array.from(document.querySelectorAll('.chart'));
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const font = getComputedStyle(document.body).fontFamily;

  function theme(width) {
    const text = dark.matches ? '#d6d9de' : '#2b2f36';
    const line = dark.matches ? '#3a3f48' : '#e3e5e9';
    const axis = dark.matches ? '#767c88' : '#9aa0aa';
    return {
      background: 'transparent',
      font: font,
      view: {stroke: line},
      axis: {
        labelColor: text, titleColor: text, gridColor: line, domainColor: axis, tickColor: axis,
        labelFontSize: 11, titleFontSize: 12, titleFontWeight: 'normal', titlePadding: 8,
      },
      axisBand: {grid: false, ticks: false, labelPadding: 8},
      legend: {
        labelColor: text, titleColor: text, labelFontSize: 11, labelLimit: 220, symbolSize: 90,
        symbolBaseFillColor: text, symbolBaseStrokeColor: text,
        columns: Math.max(1, Math.floor((width - 90) / 125)),
      },
    };
  }

  async function draw(place) {
    const spec = JSON.parse(document.getElementById(place.dataset.spec).textContent);
    await vegaEmbed(place, spec, {
      mode: 'vega-lite', renderer: 'svg', actions: false, defaultStyle: false, config: theme(place.clientWidth),
      tooltip: {theme: dark.matches ? 'dark' : 'light'},
    });
    if (!place.querySelector('svg')) throw new Error('no drawing');
  }

  async function drawAll() {
    const settled = await Promise.allSettled(charts.map(draw));
    const errors = [];
    settled.forEach((result, i) => {
      if (result.status === 'fulfilled') return;
      errors.push(charts[i].dataset.spec + ': ' + result.reason);
      charts[i].textContent = 'This chart could not be drawn: ' + result.reason;
      console.error(charts[i].dataset.spec, result.reason);
    });
    root.dataset.chartErrors = JSON.stringify(errors);
    root.dataset.chartsRendered = String(settled.length - errors.length);
  }

  root.dataset.chartsExpected = String(charts.length);
  drawAll();
  dark.addEventListener('change', drawAll);
})();
