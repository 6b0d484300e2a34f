/** The section of the calls: after a run it shows them on a time axis, for each tab those of its last run. */
import { openTab, problemInEditors } from '../editors.js';
import { element } from '../element.js';
import { viewOf } from './trace.js';

const NOT_RUN = { totals: 'Run an operation to see its calls to the service.' };
const RUNNING = { totals: 'Running …' };

export function createCalls(operations) {
  const totals = element('span', { className: 'calls-totals' });
  totals.setAttribute('role', 'status');
  // Focusable, so that the keyboard can scroll it.
  const content = element('div', { className: 'calls-list', tabIndex: 0, role: 'region', ariaLabel: 'List of calls' });
  /** The last run of each tab. */
  const views = new WeakMap();
  let shown;
  update();

  function update() {
    const view = views.get(openTab()) ?? NOT_RUN;
    if (view === shown) return;
    shown = view;
    totals.textContent = view.totals;
    content.replaceChildren(...(view.table ? [view.table] : []));
  }

  function show(tab, view) {
    if (tab) views.set(tab, view);
    update();
  }

  operations.onStart((tab) => show(tab, RUNNING));
  operations.onAnswer((tab, answer) => {
    // Of the parts of a response the last one has the calls.
    if (answer?.extensions?.upstream || answer?.hasNext === undefined) show(tab, viewOf(answer?.extensions?.upstream));
  });

  /** To be called when there are editors. */
  function watch() {
    // Invalid headers or variables are not sent, so the calls of an earlier run do not belong to them.
    const onRun = () => {
      const problem = problemInEditors();
      if (problem) show(openTab(), { totals: problem });
    };
    const isRun = ({ key, ctrlKey, metaKey }) => key === 'Enter' && (ctrlKey || metaKey);
    addEventListener('click', ({ target }) => target.closest?.('.graphiql-execute-button') && onRun(), true);
    addEventListener('keydown', (event) => isRun(event) && onRun(), true);
  }

  return { name: 'Calls', about: totals, content, update, watch };
}
