/** What a field requires of the caller, read from the declarations by which the engine calls endpoints and loads records. */
import { type GraphQLField, type GraphQLObjectType, type GraphQLSchema, getNamedType, isObjectType } from 'graphql';
import { type Endpoint, type Scope, type Tier, isProvided, tiers } from '../../api/endpoint.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { RecordSource } from '../../api/record-source.ts';
import { oncePer } from '../../lib/remember.ts';
import { badInput } from '../errors/to-client-error.ts';
import { allFields, fieldRule, nodeTypeOf, typeRule } from '../plan/read-declarations.ts';
import { endpointsOf } from './tiers-by-path.ts';

export interface FieldRequirement {
  /** `Type.field` */
  coordinate: string;
  /** The film tiers that get the field; null if it does not depend on the tier. */
  tiers: readonly Tier[] | null;
  /** A token needs one of them. */
  scopes: readonly Scope[];
  loginRequired: boolean;
}

/** The requirements of all fields that have any, by coordinate. */
export const requirementsOf = oncePer((schema: GraphQLSchema): ReadonlyMap<string, FieldRequirement> => {
  const requirements = new Map<string, FieldRequirement>();
  for (const { type, field, coordinate } of allFields(schema)) {
    const requirement = requirementOfField(type, field, coordinate);
    if (requirement) requirements.set(coordinate, withLists(withShortForm(requirement, type, field), field));
  }
  return requirements;
});

/** Those that ask anything of the caller. */
export const requirementsToMeet = (schema: GraphQLSchema): readonly FieldRequirement[] =>
  [...requirementsOf(schema).values()].filter(
    ({ tiers: getting, scopes, loginRequired }) =>
      loginRequired || scopes.length > 0 || (getting && getting.length < tiers.length),
  );

/** The tiers that get a field wherever it is selected, which may be fewer; undefined if it does not depend on the tier. */
export const tiersOnEveryPath = (type: GraphQLObjectType, field: GraphQLField<unknown, unknown>) =>
  requirementOfField(type, field, '')?.tiers ?? undefined;

/** Every tier gets what the short form of a record has, with whatever names the record. */
function withShortForm(requirement: FieldRequirement, type: GraphQLObjectType, field: GraphQLField<unknown, unknown>) {
  const { shortForm } = typeRule(type);
  const { needs = [], endpoint } = fieldRule(field);
  const isShort = shortForm && !endpoint && needs.every((member) => isProvided(shortForm, member));
  return isShort && requirement.tiers ? { ...requirement, tiers } : requirement;
}

/** A field that looks up a record: it is also there for callers who get a list of the record alone, which shows that there is one. */
function withLists(requirement: FieldRequirement, field: GraphQLField<unknown, unknown>): FieldRequirement {
  const { endpoint } = fieldRule(field);
  const type = nodeTypeOf(field) ?? getNamedType(field.type);
  if (!endpoint || !isObjectType(type) || typeRule(type).record?.endpoint !== endpoint) return requirement;
  const lists = Object.values(type.getFields()).flatMap((each) => endpointsOf(fieldRule(each)));
  const getting = [...(requirement.tiers ?? tiers), ...lists.flatMap((each) => each.tiers)];
  return {
    ...requirement,
    tiers: requirement.tiers && tiers.filter((tier) => getting.includes(tier)),
    loginRequired: requirement.loginRequired && lists.every(({ login }) => login),
  };
}

/** Whether a caller gets the field: null if that is not known yet. Throws if there is no such field. */
export function mayUse(coordinate: string, schema: GraphQLSchema, viewer: Viewer): boolean | null {
  const [type = '', field = '', ...more] = coordinate.split('.');
  const owner = schema.getType(type);
  if (!isObjectType(owner) || more.length > 0 || !Object.hasOwn(owner.getFields(), field))
    throw badInput('This is not the coordinate of a field, `Type.field`.', { argument: 'coordinate' });
  const requirement = requirementsOf(schema).get(coordinate);
  if (!requirement) return true;
  const { tiers, loginRequired } = requirement;
  if (loginRequired && (!viewer.isLoggedIn || viewer.isRejected)) return false;
  // What is cached is served with a rejected token too.
  if (!tiers) return viewer.isRejected ? null : true;
  return viewer.filmTier && tiers.includes(viewer.filmTier);
}

function requirementOfField(
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  coordinate: string,
): FieldRequirement | undefined {
  const rule = fieldRule(field);
  const { record } = typeRule(type);
  const endpoints = endpointsOf(rule);
  const needed = rule.needs?.filter((member) => member !== 'id') ?? [];
  // The first items of some lists come with the record, which other tiers and scopes get.
  const members = endpoints.length > 0 ? rule.embedded && [rule.embedded.member] : needed.length > 0 && needed;
  const gates = [...endpoints.map(gateOf), ...(record && members ? [gateOfMembers(record, members)] : [])];
  if (gates.length === 0) return undefined;
  // One of them is enough.
  const isTiered = gates.every((gate) => gate.tiers !== null);
  return {
    coordinate,
    tiers: isTiered ? tiers.filter((tier) => gates.some((gate) => gate.tiers?.includes(tier))) : null,
    scopes: [...new Set(gates.flatMap(({ scope }) => scope ?? []))],
    loginRequired: rule.viewerOnly !== undefined || gates.every(({ login }) => login),
  };
}

/** One way to a field. */
interface Gate {
  tiers: readonly Tier[] | null;
  scope: Scope | null;
  login: boolean;
}

const gateOf = ({ isTiered, tiers, scope, login }: Endpoint): Gate => ({
  tiers: isTiered ? tiers : null,
  scope,
  login,
});

/** The record with these members. */
function gateOfMembers({ endpoint }: RecordSource, members: readonly string[]): Gate {
  const gate = gateOf(endpoint);
  const gets = (tier: Tier) => members.every((member) => endpoint.gates?.members[member]?.includes(tier) ?? true);
  return { ...gate, tiers: gate.tiers && gate.tiers.filter(gets) };
}
