// Draws the charts of the page, those in folded sections when they are opened, and says on the root element how it
// went (data-charts-expected, data-charts-rendered, data-chart-errors). A link opens the section to which it leads;
// #all opens everything.
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

  const drawn = new Set();
  const errors = new Map();

  async function drawOne(place) {
    drawn.add(place);
    try {
      await draw(place);
      errors.delete(place);
    } catch (reason) {
      errors.set(place, place.dataset.spec + ': ' + reason);
      place.textContent = 'This chart could not be drawn: ' + reason;
      console.error(place.dataset.spec, reason);
    }
  }

  const isShown = (place) => !place.closest('details:not([open])');

  async function drawShown() {
    await Promise.all(charts.filter((place) => isShown(place) && !drawn.has(place)).map(drawOne));
    root.dataset.chartErrors = JSON.stringify(Array.from(errors.values()));
    root.dataset.chartsRendered = String(drawn.size - errors.size);
  }

  function follow() {
    const wanted = location.hash === '#all' ? 'details' : location.hash + ' > details.fold';
    if (location.hash.length < 2 || !/^#[\w-]+$/.test(location.hash)) return;
    document.querySelectorAll(wanted).forEach((each) => { each.open = true; });
  }

  root.dataset.chartsExpected = String(charts.length);
  follow();
  drawShown();
  window.addEventListener('hashchange', follow);
  document.querySelectorAll('details').forEach((each) => each.addEventListener('toggle', drawShown));
  dark.addEventListener('change', () => { drawn.clear(); drawShown(); });
})();
