/** What a field requires of the caller, read from the declarations by which the engine calls endpoints and loads records. */
import { type GraphQLField, type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql';
import { type Endpoint, type Scope, type Tier, tiers } from '../../api/endpoint.ts';
import type { Viewer } from '../../upstream/auth/viewer.ts';
import type { RecordSource } from '../../upstream/loading/record-state.ts';
import { oncePer } from '../../lib/remember.ts';
import { badInput } from '../errors/to-client-error.ts';
import { allFields, fieldRule, typeRule } from '../plan/read-declarations.ts';
import type { FieldRule } from '../plan/declaration-types.ts';

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
    if (requirement) requirements.set(coordinate, requirement);
  }
  return requirements;
});

/** The requirement of one field; throws if there is no such field. */
export function requirementOf(coordinate: string, schema: GraphQLSchema): FieldRequirement {
  const [type = '', field = '', ...more] = coordinate.split('.');
  const owner = schema.getType(type);
  if (!isObjectType(owner) || more.length > 0 || !Object.hasOwn(owner.getFields(), field))
    throw badInput('This is not the coordinate of a field, `Type.field`.', { argument: 'coordinate' });
  return requirementsOf(schema).get(coordinate) ?? { coordinate, tiers: null, scopes: [], loginRequired: false };
}

/** Whether a caller gets the field: null if that depends on a tier that is not known yet. */
export function mayUse({ tiers, loginRequired }: FieldRequirement, viewer: Viewer): boolean | null {
  if (loginRequired && !viewer.isLoggedIn) return false;
  if (!tiers) return true;
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
    loginRequired: rule.viewerOnly === true || gates.every(({ login }) => login),
  };
}

/** The endpoints that a field may call: all that its arguments can choose. */
function endpointsOf({ endpoint, endpoints = [], writeEndpoint }: FieldRule): readonly Endpoint[] {
  if (writeEndpoint) return [writeEndpoint];
  return typeof endpoint === 'object' ? [endpoint] : endpoints;
}

/** One way to a field. */
interface Gate {
  tiers: readonly Tier[] | null;
  scope: Scope | null;
  login: boolean;
}

const gateOf = ({ share, tiers, scope, login }: Endpoint): Gate => ({
  tiers: share === 'tier' ? tiers : null,
  scope,
  login,
});

/** The record with these members. */
function gateOfMembers({ endpoint, tiers: having }: RecordSource, members: readonly string[]): Gate {
  const gate = gateOf(endpoint);
  const gets = (tier: Tier) => members.every((member) => having?.[member]?.includes(tier) ?? true);
  return { ...gate, tiers: gate.tiers && gate.tiers.filter(gets) };
}
