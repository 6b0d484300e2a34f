/**
 * The panel below GraphiQL. While a document is written it shows the least and most calls; after a run, the calls on a time axis.
 * Every operation of the page is sent with `x-explain: trace`, unless it has an x-explain of its own. The trace is shown here and taken
 * out of the response, so that the response is what any client gets.
 */
import { createCurlButton } from './curl.js';
import { openTab, problemInEditors } from './editors.js';
import { createPrice } from './price.js';
import { element, viewOf } from './trace.js';

const STORED = 'catalog-graphql:calls';
const NOT_RUN = { totals: 'Run an operation to see its calls to the service.' };
const RUNNING = { totals: 'Running …' };

/** Adds the panel to the page, with the switch of the person. Returns a function to be called when the editors can be watched. */
export function showCalls(people) {
  const send = window.fetch.bind(window);
  const { price, watch, update } = createPrice(send);
  const panel = createPanel(price, people?.label);
  people?.watch(update);
  window.fetch = async (input, options = {}) => {
    if (!isOperation(input, options)) return send(input, options);
    const tab = openTab();
    const headers = new Headers(options.headers);
    const isOurs = !headers.has('x-explain');
    if (isOurs) headers.set('x-explain', 'trace');
    panel.show(tab, RUNNING);
    const response = await send(input, { ...options, headers });
    const type = response.headers.get('content-type') ?? '';
    if (!/json/.test(type)) {
      // Incremental delivery: parts are passed on as they arrive, and the last one has the calls.
      if (response.body) void readParts(response.clone(), (upstream) => panel.show(tab, viewOf(upstream)));
      return response;
    }
    const answer = await response
      .clone()
      .json()
      .catch(() => undefined);
    panel.show(tab, viewOf(answer?.extensions?.upstream));
    const shown = shownOf(answer, isOurs);
    if (!shown) return response;
    const { status, statusText } = response;
    return new Response(JSON.stringify(shown), { status, statusText, headers: response.headers });
  };
  return () => {
    watch();
    // Invalid headers or variables are not sent, so the calls of an earlier run do not belong to them.
    const onRun = () => {
      const problem = problemInEditors();
      if (problem) panel.show(openTab(), { totals: problem });
    };
    const isRun = ({ key, ctrlKey, metaKey }) => key === 'Enter' && (ctrlKey || metaKey);
    addEventListener('click', ({ target }) => target.closest?.('.graphiql-execute-button') && onRun(), true);
    addEventListener('keydown', (event) => isRun(event) && onRun(), true);
    // GraphiQL has no event for a change of tab.
    new MutationObserver(panel.update).observe(document.querySelector('#root'), {
      subtree: true,
      childList: true,
      attributeFilter: ['aria-selected'],
    });
  };
}

/** The response without what the panel shows of it; undefined if it is shown as it is. A plan is no failure, and is not shown as one. */
function shownOf(answer, isOurs) {
  if (!answer?.extensions?.upstream) return undefined;
  const { upstream, ...extensions } = answer.extensions;
  if (answer.errors?.[0]?.extensions?.code === 'PLANNED_NOT_RUN')
    return {
      data: {},
      extensions: {
        note: 'PLANNED_NOT_RUN: with x-explain: plan an operation is planned and not run. This is its cost.',
        upstream,
        ...extensions,
      },
    };
  return isOurs ? { ...answer, extensions: Object.keys(extensions).length > 0 ? extensions : undefined } : undefined;
}

/** Whether the request is an operation that the user wrote. */
function isOperation(input, { method, body }) {
  const url = new URL(input instanceof Request ? input.url : input, location.href);
  return (
    url.origin === location.origin &&
    url.pathname === location.pathname &&
    method === 'POST' &&
    !(typeof body === 'string' && body.includes('IntrospectionQuery'))
  );
}

async function readParts(response, onTrace) {
  const text = await response.text().catch(() => '');
  for (const line of text.split(/\r?\n/)) {
    const json = line.replace(/^data: */, '');
    if (!json.startsWith('{') || !json.includes('"upstream"')) continue;
    try {
      onTrace(JSON.parse(json).extensions?.upstream);
    } catch {
      // not a part
    }
  }
}

function createPanel(price, person) {
  const title = element('span', { className: 'calls-title', textContent: 'Calls' });
  const totals = element('span', { className: 'calls-totals' });
  totals.setAttribute('role', 'status');
  const bar = element('button', { className: 'calls-bar', type: 'button' });
  bar.setAttribute('aria-controls', 'calls-list');
  bar.append(element('span', { className: 'calls-arrow', ariaHidden: 'true' }), title, totals);
  bar.addEventListener('click', () => open(!isOpen));
  const head = element('div', { className: 'calls-head' });
  head.append(bar, price, ...(person ? [person] : []), createCurlButton());
  // Focusable, so that the keyboard can scroll it.
  const list = element('div', { className: 'calls-list', id: 'calls-list', tabIndex: 0, role: 'region' });
  list.ariaLabel = 'List of calls';
  const panel = element('section', { className: 'calls', ariaLabel: 'Calls to the service' });
  panel.append(head, list);
  document.body.append(panel);

  /** The last run of each tab. */
  const views = new WeakMap();
  let shown;
  let isOpen = stored() !== 'closed';
  update();

  function open(wanted) {
    isOpen = wanted;
    bar.setAttribute('aria-expanded', String(isOpen));
    list.hidden = !isOpen || list.childElementCount === 0;
    try {
      localStorage.setItem(STORED, isOpen ? 'open' : 'closed');
    } catch {
      // a browser that keeps nothing
    }
  }

  function update() {
    const view = views.get(openTab()) ?? NOT_RUN;
    if (view === shown) return;
    shown = view;
    totals.textContent = view.totals;
    list.replaceChildren(...(view.table ? [view.table] : []));
    open(isOpen);
  }

  function show(tab, view) {
    if (tab) views.set(tab, view);
    update();
  }

  return { show, update };
}

function stored() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}
