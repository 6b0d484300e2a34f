/** The fields of an operation by their response keys from the root, joined by dots, in the order of the document. */
export function fieldsByPath({ definitions }, operationName) {
  const named = (kind) => definitions.filter((each) => each.kind === kind).map((each) => [each.name?.value, each]);
  const fragments = new Map(named('FragmentDefinition'));
  const operation = named('OperationDefinition').find(([name]) => !operationName || name === operationName)?.[1];
  const fields = new Map();
  const read = (selections, parent, within) => {
    for (const selection of selections) {
      const name = (selection.alias ?? selection.name)?.value;
      const isSpread = selection.kind === 'FragmentSpread';
      const { selectionSet } = (isSpread ? !within.includes(name) && fragments.get(name) : selection) || {};
      const path = selection.kind !== 'Field' ? parent : parent === '' ? name : `${parent}.${name}`;
      if (selection.kind === 'Field') fields.set(path, [...(fields.get(path) ?? []), selection]);
      if (selectionSet) read(selectionSet.selections, path, isSpread ? [...within, name] : within);
    }
  };
  if (operation) read(operation.selectionSet.selections, '', []);
  return fields;
}
