/** The types of `src/api` as data: of each read endpoint the type of its response, and of each type its members. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export function apiShapes(root) {
  const folder = join(root, 'src/api');
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    types: [],
  });
  const checker = program.getTypeChecker();
  const shapes = {};
  const requiredMembers = {};
  const reads = {};
  for (const file of files) {
    const source = program.getSourceFile(file);
    for (const symbol of checker.getExportsOfModule(checker.getSymbolAtLocation(source))) {
      if (!symbol.name.endsWith('Endpoints')) continue;
      for (const row of checker.getTypeOfSymbol(symbol).getProperties()) {
        const [, path] = /'(GET [^']+)'/.exec(row.declarations[0].getText()) ?? [];
        if (path === undefined) continue;
        reads[path] = textOf(checker.getTypeArguments(endpointOf(checker.getTypeOfSymbol(row)))[1], row.name);
      }
    }
  }
  return { reads, shapes, requiredMembers };

  /** Of `Endpoint<In, Out> & { method: … }`. */
  function endpointOf(type) {
    return type.isIntersection() ? type.types.find(({ symbol }) => symbol?.name === 'Endpoint') : type;
  }

  /** The type as text, with names of shapes; `name` is that of one that has none. */
  function textOf(type, name) {
    const parts = (type.isUnion() ? type.types : [type]).map((each) => partOf(each, name));
    return [...new Set(parts.filter((part) => part !== 'undefined'))].sort().join('|');
  }

  function partOf(type, name) {
    const { flags } = type;
    if (flags & ts.TypeFlags.StringLike) return 'string';
    if (flags & ts.TypeFlags.NumberLike) return 'number';
    if (flags & ts.TypeFlags.BooleanLike) return 'boolean';
    if (flags & ts.TypeFlags.Null) return 'null';
    if (flags & ts.TypeFlags.Undefined) return 'undefined';
    if (checker.isArrayType(type)) return `${textOf(checker.getTypeArguments(type)[0], `${name}Item`)}[]`;
    const index = type.getStringIndexType();
    if (index) return `{${textOf(index, name)}}`;
    return shapeOf(type, name);
  }

  function shapeOf(type, name) {
    const own = (type.aliasSymbol ?? type.symbol)?.name;
    const shape = own === undefined || own.startsWith('__') ? name : own;
    if (shape in shapes) return shape;
    const members = (shapes[shape] = {});
    requiredMembers[shape] = [];
    for (const member of type.getProperties()) {
      members[member.name] = textOf(checker.getTypeOfSymbol(member), `${shape}.${member.name}`);
      if (!(member.flags & ts.SymbolFlags.Optional)) requiredMembers[shape].push(member.name);
    }
    return shape;
  }
}
