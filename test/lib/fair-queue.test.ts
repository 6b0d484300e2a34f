import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFairQueue } from '../../src/lib/fair-queue.ts';

const step = fc.tuple(fc.constantFrom('add', 'add', 'take', 'takeOf', 'remove'), fc.nat(3), fc.nat(20));

test('owners take turns and items of an owner come in order, whatever is taken or leaves in between', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const people = [{}, {}, {}, {}];
      const queue = createFairQueue<number>();
      const nodes: ReturnType<typeof queue.add>[] = [];
      let expected: (typeof nodes)[number][] = [];
      let turns: object[] = [];
      const without = (node: (typeof nodes)[number] | undefined) => {
        expected = expected.filter((each) => each !== node);
        turns = turns.filter((owner) => expected.some((each) => each.owner === owner));
        return node?.item;
      };
      steps.forEach(([does, person, at], item) => {
        const owner = does === 'take' ? turns[0] : people[person]!;
        const first = expected.find((each) => each.owner === owner);
        if (does === 'add') {
          expected.push(nodes[nodes.push(queue.add(people[person]!, item)) - 1]!);
          if (!turns.includes(people[person]!)) turns.push(people[person]!);
        } else if (does === 'remove') {
          const node = nodes[at];
          if (node) expect(queue.remove(node)).toBe(expected.includes(node));
          without(node);
        } else {
          expect(does === 'take' ? queue.take() : queue.takeOf(people[person]!)).toBe(first?.item);
          if (first) turns = [...turns.filter((each) => each !== owner), owner!];
          without(first);
        }
        expect(queue.size).toBe(expected.length);
      });
    }),
  );
});
