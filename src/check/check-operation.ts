/** Checks one operation: by the code of the server, which needs no server to run. */
import { type ASTNode, type DocumentNode, type GraphQLError, type GraphQLSchema, parse, visit } from 'graphql';
import { type DocumentSettings, exceededCalls } from '../engine/documents/limits.ts';
import { type Use, usesOf } from '../engine/plan/document-uses.ts';
import type { OperationRequirements } from '../engine/requirements/operation-requirements.ts';
import type { CostRange } from '../engine/cost/cost-range.ts';
import { type Assess, createAssess } from '../engine/documents/assess.ts';
import { type Hint, hintsOf } from '../engine/documents/hints.ts';
import type { CheckedOperation } from './documents.ts';
import type { Finding } from './finding.ts';
import type { Lost, createLostFinder } from './lost.ts';

export interface CheckResult {
  operation: CheckedOperation;
  /** Whether the server runs it. */
  isValid: boolean;
  cost: CostRange | undefined;
  requirements: OperationRequirements | undefined;
  /** How it becomes cheaper. */
  hints: readonly Hint[];
  findings: Finding[];
}

type FindLost = Awaited<ReturnType<typeof createLostFinder>>;

export function createOperationCheck(
  schema: GraphQLSchema,
  settings: DocumentSettings,
  findLost: FindLost | undefined,
) {
  const assess: Assess = createAssess(schema, settings);

  return (operation: CheckedOperation): CheckResult => {
    const { text, operationName, document, locationOf } = operation;
    const { errors, cost, requirements } = assess(text, operationName);
    const uses = usesOf(schema, document);
    const findings: Finding[] = errors.map((error) => {
      const { node, use } = subjectOf(operation, uses, error);
      const { code, coordinate = use?.coordinate } = error.extensions as { code?: string; coordinate?: string };
      return { severity: 'error', code: String(code), message: error.message, coordinate, location: locationOf(node) };
    });
    addLost(findings, findLost?.(document) ?? [], locationOf);
    for (const { coordinate, deprecated, node } of distinct(uses.filter(({ deprecated }) => deprecated !== undefined)))
      findings.push({
        severity: 'warning',
        code: 'DEPRECATED',
        message: `${coordinate} is deprecated: ${deprecated}`,
        coordinate,
        location: locationOf(node),
      });
    if (errors.length === 0 && cost) findings.push(...excesses(cost, settings, operation));
    const hints = cost ? hintsOf(cost.usual, settings) : [];
    return { operation, isValid: errors.length === 0, cost, requirements, hints, findings };
  };
}

/** The node that an error of validation is about, and its use: errors have positions in the text that was sent, not in the file. */
function subjectOf(
  { text, document }: CheckedOperation,
  uses: readonly Use[],
  { positions, extensions }: GraphQLError,
): { node?: ASTNode | undefined; use?: Use | undefined } {
  const [position] = positions ?? [];
  if (position === undefined || extensions.code !== 'GRAPHQL_VALIDATION_FAILED') return {};
  // Printing a document and parsing it again changes no node but its location.
  const own = nodesOf(document);
  const there = nodesOf(parse(text)).flatMap(({ loc }, at) => (loc?.start === position ? [own[at]] : []));
  const use = uses.find((each) => there.includes(each.node));
  return { node: use?.node ?? there[0], use };
}

function nodesOf(document: DocumentNode): ASTNode[] {
  const nodes: ASTNode[] = [];
  visit(document, { enter: (node) => void nodes.push(node) });
  return nodes;
}

function addLost(findings: Finding[], lost: readonly Lost[], locationOf: CheckedOperation['locationOf']): void {
  for (const { severity, coordinate, node, message } of lost) {
    const known = findings.find((each) => each.coordinate === coordinate);
    const code = severity === 'error' ? 'LOST' : 'DEFAULT_CHANGED';
    if (known && severity === 'error') known.message += ' The old schema allowed it.';
    else findings.push({ severity, code, message, coordinate, location: locationOf(node) });
  }
}

/** Limits that the operation exceeds with some variables only: the server rejects it with these. */
function excesses(
  { calls, items, values, dearest }: CostRange,
  settings: DocumentSettings,
  { location, document }: CheckedOperation,
): Finding[] {
  const isMutation = document.definitions.some((node) => 'operation' in node && node.operation === 'mutation');
  const exceeded = exceededCalls({ likely: calls.likely, max: calls.most }, isMutation, settings);
  const checks = [
    ...(exceeded ? [{ code: 'TOO_MANY_CALLS', what: 'upstream calls', ...exceeded }] : []),
    { code: 'TOO_MANY_ITEMS', what: 'items', does: 'may cost', actual: items, limit: settings.maxItems },
    { code: 'TOO_MANY_VALUES', what: 'values', does: 'may cost', actual: values, limit: settings.maxValues },
  ];
  return checks
    .filter(({ actual, limit }) => actual > limit)
    .map(({ code, what, does, actual, limit }) => ({
      severity: 'warning' as const,
      code,
      message: `With some variables it ${does} ${actual} ${what}, and is rejected: at most ${limit} are allowed.`,
      coordinate: code === 'TOO_MANY_CALLS' ? dearest?.coordinate : undefined,
      location,
    }));
}

const distinct = (uses: readonly Use[]): Use[] =>
  [...new Map(uses.toReversed().map((use) => [use.coordinate, use])).values()].toReversed();
