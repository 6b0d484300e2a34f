/** Misspelt options and members of what an embedding program declares: the compiler of a program in JavaScript does not see them. */
import { type GraphQLSchema, isInterfaceType, isObjectType } from 'graphql';
import { unknownNames, unknownOptions } from '../config/read.ts';
import { allFields, fieldRule, typeRule } from '../engine/plan/read-declarations.ts';
import { schema as ofCatalog } from '../graph/schema.ts';
import { lazily } from '../lib/promises.ts';

/** The fields that are not in the schema of the catalog. */
export function* addedFields(extended: GraphQLSchema) {
  for (const each of allFields(extended)) {
    const known = ofCatalog.getType(each.type.name);
    const isKnown = (isObjectType(known) || isInterfaceType(known)) && each.field.name in known.getFields();
    if (!isKnown) yield each;
  }
}

/** The options that the catalog's own types and fields use, which are all that there are. */
const options = lazily(() => {
  const fields = [...allFields(ofCatalog)];
  return {
    ofFields: namesIn(fields.map(({ field }) => fieldRule(field))),
    ofTypes: namesIn(fields.map(({ type }) => typeRule(type))),
    ofArguments: ['type', 'description', 'required', 'defaultValue', 'deprecationReason', 'extensions'],
  };
});

export function declaredProblems(extended: GraphQLSchema): string[] {
  const problems = new Set<string>();
  const note = (where: string, found: readonly string[]) => found.forEach((each) => problems.add(`${where}: ${each}`));
  for (const { type, field, coordinate } of addedFields(extended)) {
    const rule = fieldRule(field);
    note(coordinate, unknownOptions(rule, options().ofFields));
    for (const { name, extensions } of field.args)
      note(`${coordinate}(${name}:)`, unknownOptions(extensions.pothosOptions as object, options().ofArguments));
    const members = membersOf(type.name, extended);
    if (members) note(coordinate, unknownNames([...(rule.needs ?? []), ...(rule.from ?? [])], members, 'is no member'));
    if (!ofCatalog.getType(type.name)) note(type.name, unknownOptions(typeRule(type), options().ofTypes));
  }
  return [...problems];
}

/** The members that records of a type may have; undefined if the type does not say. */
function membersOf(name: string, extended: GraphQLSchema): readonly string[] | undefined {
  const own = [...allFields(ofCatalog)].filter(({ type }) => type.name === name).map(({ field }) => fieldRule(field));
  const type = extended.getType(name);
  const { record, members = record?.members } = isObjectType(type) ? typeRule(type) : {};
  return members && [...members, ...own.flatMap(({ needs = [], from = [] }) => [...needs, ...from])];
}

const namesIn = (rules: readonly object[]): string[] => [...new Set(rules.flatMap((rule) => Object.keys(rule)))];
