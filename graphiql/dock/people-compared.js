/** The section of the people: what each may use, and the document run as each of them, with what each is refused. */
import { getOperationAST } from 'graphql/utilities/getOperationAST.mjs';
import { parse } from 'graphql/language/parser.mjs';
import { openTab, operationIn, requestInEditors } from '../editors.js';
import { button, element, tableWith } from '../element.js';
import { tableOfAllowed } from './people-allowed.js';

const COUNTS = ['no', 'one', 'two', 'three', 'four', 'five'];

/** `send` adds no token, so that nobody of the `people` is sent without one. */
export function createPeopleCompared({ send }, people) {
  const status = element('p', {});
  status.setAttribute('role', 'status');
  const result = element('div', { className: 'dock-wide' });
  const run = button(`Run as all ${COUNTS[people.length] ?? people.length}`, compare);
  const allowed = button('What each may use', showAllowed);
  const content = element(
    'div',
    { className: 'dock-list', role: 'region', ariaLabel: 'What people may use' },
    allowed,
    ' ',
    run,
    status,
    result,
  );
  /** The tab whose document was run; undefined if none was. */
  let tab;
  /** Counts what was begun: only the result of the last is shown. */
  let begun = 0;
  clear();

  function clear() {
    tab = undefined;
    begun++;
    run.disabled = false;
    status.textContent =
      'Shows what each person of the demo may use, or runs the document as each and shows what each is refused.';
    result.replaceChildren();
  }

  async function showAllowed() {
    clear();
    const own = begun;
    status.textContent = 'Loading …';
    try {
      const table = await tableOfAllowed(
        (person, query) =>
          answerFor(person, { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) }),
        people,
      );
      if (own !== begun) return;
      status.textContent = 'Fields that not everybody may use. Everybody may use all others.';
      result.replaceChildren(table);
    } catch {
      if (own === begun) status.textContent = 'The requirements could not be loaded.';
    }
  }

  async function compare() {
    clear();
    tab = openTab();
    const request = requestInEditors();
    const problem = request ? problemOf(JSON.parse(request.body).query) : 'There is no document to run.';
    status.textContent = problem ?? 'Running …';
    if (problem) return;
    run.disabled = true;
    const own = begun;
    const answers = await Promise.all(people.map((person) => answerFor(person, request)));
    if (own !== begun) return;
    run.disabled = false;
    const refused = rowsOf(answers);
    status.textContent = refused.length > 0 ? 'Refused, by field:' : 'Nobody is refused anything.';
    result.replaceChildren(tableOf(people, answers, refused));
  }

  async function answerFor({ authorization }, { headers, body }) {
    const own = Object.entries(headers).filter(([name]) => !/^(?:authorization|x-explain)$/i.test(name));
    const sent = {
      ...Object.fromEntries(own),
      accept: 'application/json',
      ...(authorization && { authorization }),
      'x-explain': 'trace',
    };
    try {
      return await (await send(location.pathname, { method: 'POST', headers: sent, body })).json();
    } catch (error) {
      return { errors: [{ message: error.message, extensions: { code: 'NO_RESPONSE' } }] };
    }
  }

  // What was run belongs to the document of one tab.
  const update = () => tab && tab !== openTab() && clear();
  return { name: 'People', content, update };
}

/** Only what changes nothing is run several times. */
function problemOf(query) {
  try {
    const operation = getOperationAST(parse(query), operationIn(query));
    return operation?.operation === 'query'
      ? undefined
      : 'Only a query is run as everybody: a mutation would be made several times.';
  } catch (error) {
    return error.message;
  }
}

/** The errors by field, in the order of their paths; for each person the code and how many there are. */
function rowsOf(answers) {
  const rows = new Map();
  for (const [at, { errors = [] }] of answers.entries())
    for (const { path = [], message, extensions: { code = 'ERROR' } = {} } of errors) {
      const field = path.filter((step) => typeof step === 'string').join('.') || 'the operation';
      const cells = rows.get(field) ?? [];
      cells[at] = { code, message, count: (cells[at]?.count ?? 0) + 1 };
      rows.set(field, cells);
    }
  return [...rows].sort(([a], [b]) => a.localeCompare(b));
}

function tableOf(people, answers, refused) {
  const rowOf = (name, cellOf) => {
    const head = element('th', { scope: 'row', className: 'calls-path', textContent: name, title: name });
    return element('tr', {}, head, ...answers.map(cellOf));
  };
  const rows = refused.map(([field, cells]) => rowOf(field, (answer, at) => refusalCell(cells[at], answer)));
  rows.push(rowOf('Values', ({ data }) => element('td', { textContent: String(valuesIn(data)) })));
  // Where x-explain is off, nothing tells the calls.
  if (answers.some(({ extensions }) => extensions?.upstream))
    rows.push(rowOf('Calls', (answer) => element('td', { textContent: String(callsOf(answer)) })));
  return tableWith(['Field', ...people.map(({ name }) => name)], rows);
}

function refusalCell(refusal, { data }) {
  if (!refusal) return element('td', { className: 'people-fine', textContent: data ? 'fine' : '' });
  const { code, count, message } = refusal;
  const link = element('a', {
    href: `/docs/errors#${code}`,
    target: '_blank',
    textContent: count > 1 ? `${code} × ${count}` : code,
    title: message,
  });
  return element('td', { className: 'people-refused' }, link);
}

const callsOf = ({ extensions }) => (extensions?.upstream?.calls ?? []).filter(({ how }) => how === 'sent').length;

function valuesIn(value) {
  if (value === null || value === undefined) return 0;
  if (typeof value !== 'object') return 1;
  return Object.values(value).reduce((sum, each) => sum + valuesIn(each), 0);
}
