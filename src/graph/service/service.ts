import { builder } from '../../engine/builder.ts';
import { FilmTier } from '../types/film-tier.ts';
import { ServiceLimits } from './limits.ts';
import { type FieldRequirement, requirementsToMeet } from '../../engine/requirements/requirements.ts';

/** The number of fields with requirements that the cost assumes. */
const REQUIREMENTS = 400;

const FieldRequirementType = builder.objectRef<FieldRequirement>('FieldRequirement').implement({
  description: 'What the service requires of the caller of a field.',
  fields: (t) => ({
    coordinate: t.exposeString('coordinate', { description: 'The field: `Type.field`.' }),
    tiers: t.field({
      type: [FilmTier],
      nullable: true,
      description:
        'The film tiers that get the field. Some of them get only those items of a list that the record contains, or the field of a record that another contains: the premium tier gets `Celebrity.name` of the people of a film.',
      nullIf: 'the field does not depend on the tier',
      resolve: ({ tiers }) => tiers && [...tiers],
    }),
    scopes: t.stringList({
      description: 'A token needs one of these scopes. Empty for events, which have no scopes.',
      resolve: ({ scopes }) => [...scopes],
    }),
    loginRequired: t.exposeBoolean('loginRequired', {
      description: 'Whether the request must have the token of a person.',
    }),
  }),
});

const Service = builder.objectRef<object>('Service').implement({
  description: 'Facts about the service that do not depend on the caller.',
  fields: (t) => ({
    limits: t.field({ type: ServiceLimits, description: 'The limits that apply to requests.', resolve: () => ({}) }),
    fieldRequirements: t.field({
      type: [FieldRequirementType],
      description: 'The requirements of all fields that have any. A field that is not listed is open to everybody.',
      assumedSize: REQUIREMENTS,
      resolve: (_, __, ___, { schema }) => [...requirementsToMeet(schema)],
    }),
  }),
});

builder.queryField('service', (t) =>
  t.field({
    type: Service,
    description: 'Limits and requirements of the service, for forms and pages. Makes no call.',
    resolve: () => ({}),
  }),
);
