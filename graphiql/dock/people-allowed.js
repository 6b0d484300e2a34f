/** What each person may use: the requirements of the service, grouped, beside the login and the film tier of each person. */
import { element } from '../element.js';

const REQUIREMENTS = '{ service { fieldRequirements { coordinate loginRequired tiers } } }';
const PERSON = '{ viewer { isLoggedIn filmTier } }';
/** One chart for the advance tier only, and one not for the premium tier: what is refused shows the tier. */
const CHARTS = '{ newMovies { title } top250(first: 1) { nodes { id } } }';

/** `send` sends a query as a person. Only for a tier that is not known yet it makes calls, two. */
export async function tableOfAllowed(send, people) {
  const viewerOf = async (person) => (await send(person, PERSON)).data.viewer;
  const [requirements, viewers] = await Promise.all([
    send(people[0], REQUIREMENTS),
    Promise.all(
      people.map(async (person) => {
        const viewer = await viewerOf(person);
        if (viewer.filmTier !== null) return viewer;
        await send(person, CHARTS);
        return viewerOf(person);
      }),
    ),
  ]);
  return tableOf(people, viewers, groupsOf(requirements.data.service.fieldRequirements));
}

/** Fields that require the same; none of those that everybody gets. */
export function groupsOf(requirements) {
  const tiers = new Set(requirements.flatMap((each) => each.tiers ?? []));
  const groups = new Map();
  for (const { coordinate, loginRequired, tiers: having } of requirements) {
    const isLimited = having !== null && having.length < tiers.size;
    if (!loginRequired && !isLimited) continue;
    const limit = isLimited ? having : undefined;
    const key = `${loginRequired} ${limit}`;
    if (!groups.has(key)) groups.set(key, { loginRequired, tiers: limit, coordinates: [] });
    groups.get(key).coordinates.push(coordinate);
  }
  return [...groups.values()].sort((a, b) => b.coordinates.length - a.coordinates.length);
}

/** Undefined if it depends on a tier that is not known yet. */
export function isAllowed({ loginRequired, tiers }, { isLoggedIn, filmTier }) {
  if (loginRequired && !isLoggedIn) return false;
  if (!tiers) return true;
  return filmTier === null ? undefined : tiers.includes(filmTier);
}

const SAYS = new Map([
  [true, 'yes'],
  [false, 'no'],
  [undefined, 'unknown'],
]);

function tableOf(people, viewers, groups) {
  const table = element('table', {});
  const heads = ['Fields', ...people.map(({ name }) => name)];
  table
    .createTHead()
    .append(element('tr', {}, ...heads.map((textContent) => element('th', { scope: 'col', textContent }))));
  const body = table.createTBody();
  for (const group of groups) {
    const allowed = viewers.map((viewer) => isAllowed(group, viewer));
    const className = (is) => (is ? 'people-fine' : is === false ? 'people-lacking' : 'dock-weak');
    body.append(
      element(
        'tr',
        {},
        element('td', { className: 'people-fields' }, fieldsOf(group)),
        ...allowed.map((is) => element('td', { className: className(is), textContent: SAYS.get(is) })),
      ),
    );
  }
  return table;
}

function fieldsOf({ coordinates, ...required }) {
  const summary = element('summary', {
    textContent: `${coordinates.length} with ${requirementOf(required)}`,
  });
  return element('details', {}, summary, coordinates.join(', '));
}

function requirementOf({ loginRequired, tiers }) {
  const film = tiers && `film tier ${tiers.join(' or ').toLowerCase()}`;
  return [...(loginRequired ? ['a login'] : []), ...(film ? [film] : [])].join(' and ');
}
