/** What each person may use: the requirements of the service, grouped, beside the login and the film tier of each person. */
import { element, tableWith } from '../element.js';

const REQUIREMENTS = '{ service { fieldRequirements { coordinate loginRequired tiers } } }';
const PERSON = '{ viewer { isLoggedIn filmTier } }';
/** One chart for the advance tier only, and one not for the premium tier: what is refused shows the tier. */
const CHARTS = '{ newMovies { title } top250(first: 1) { nodes { id } } }';

/** `send` returns the response to a query of a person. Two calls are made for each tier that is not known yet. Throws without data. */
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

/** Fields that require the same, the largest group first; without those that everybody gets. `tiers`: undefined if all tiers get them. */
export function groupsOf(requirements) {
  const allTiers = new Set(requirements.flatMap((each) => each.tiers ?? []));
  const groups = new Map();
  for (const { coordinate, loginRequired, tiers: having } of requirements) {
    const tiers = having !== null && having.length < allTiers.size ? having : undefined;
    if (!loginRequired && !tiers) continue;
    const key = `${loginRequired} ${tiers}`;
    if (!groups.has(key)) groups.set(key, { loginRequired, tiers, coordinates: [] });
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

const CELLS = new Map([
  [true, { className: 'people-fine', textContent: 'yes' }],
  [false, { className: 'people-lacking', textContent: 'no' }],
  [undefined, { className: 'dock-weak', textContent: 'unknown' }],
]);

function tableOf(people, viewers, groups) {
  const rows = groups.map((group) => {
    const cells = viewers.map((viewer) => element('td', CELLS.get(isAllowed(group, viewer))));
    return element('tr', {}, element('td', { className: 'people-fields' }, fieldsOf(group)), ...cells);
  });
  return tableWith(['Fields', ...people.map(({ name }) => name)], rows);
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
