// Draws the charts of the page, those in folded sections when they are opened, and says on the root element how it
// went (data-charts-expected, data-charts-rendered, data-chart-errors). A link opens the section to which it leads;
// #all opens everything. Tables can be sorted, copied and saved.
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

  // ---- tables: sorted by a click on a heading, copied and saved as they stand ----

  function sortBy(table, column) {
    const heading = table.tHead.rows[0].cells[column];
    const falls = heading.getAttribute('aria-sort') === 'ascending';
    const key = (row) => {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
    };
    const compare = (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (typeof x === typeof y) return typeof x === 'number' ? x - y : x.localeCompare(y, 'en', {numeric: true});
      return typeof x === 'number' ? -1 : 1;  // texts such as "-" come last
    };
    const rows = Array.from(table.tBodies[0].rows).sort((a, b) => (falls ? compare(b, a) : compare(a, b)));
    table.tBodies[0].append(...rows);
    for (const each of table.tHead.rows[0].cells) each.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', falls ? 'descending' : 'ascending');
  }

  function asText(table, separator, quoted) {
    return Array.from(table.rows, (row) => Array.from(row.cells, (cell) => quoted(cell.textContent)).join(separator))
      .join('\n') + '\n';
  }

  const asCsv = (table) => asText(table, ',', (text) => '"' + text.replaceAll('"', '""') + '"');

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {  // a page from a file may not
      const area = document.createElement('textarea');
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
  }

  function save(name, text) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
    link.download = name + '.csv';
    link.click();
    URL.revokeObjectURL(link.href);
  }

  function addTools(table) {
    Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
      heading.tabIndex = 0;
      heading.title = 'Sort';
      heading.addEventListener('click', () => sortBy(table, column));
      heading.addEventListener('keydown', (event) => { if (event.key === 'Enter') sortBy(table, column); });
    });
    const tools = document.createElement('p');
    tools.className = 'tools';
    const button = (label, act) => {
      const one = document.createElement('button');
      one.type = 'button';
      one.textContent = label;
      one.addEventListener('click', act);
      tools.append(one);
    };
    button('Copy', () => copy(asText(table, '\t', (text) => text)));
    button('Save as CSV', () => save(table.id, asCsv(table)));
    table.parentElement.after(tools);
  }

  document.querySelectorAll('main table').forEach(addTools);

  root.dataset.chartsExpected = String(charts.length);
  follow();
  drawShown();
  window.addEventListener('hashchange', follow);
  document.querySelectorAll('details').forEach((each) => each.addEventListener('toggle', drawShown));
  dark.addEventListener('change', () => { drawn.clear(); drawShown(); });
})();
