import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, most of them because they start programs. */
const slow = `frontend/tools package main monitoring/alerts journey/afterwriting hostile/reading hostile/members
  journey/readme check/check hostile/upstream server/graphql-over-http/requirements container server/features/mcp/price server/graphql/plans
  server/features/idempotency/settling hostile/sigterm`.split(/\s+/);

const placeOf = ({ moduleId }: TestSpecification): number => {
  const at = slow.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return at < 0 ? slow.length : at;
};

/** A long file that starts last would run alone. Vitest knows the durations of an earlier run only, and otherwise goes by size. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
