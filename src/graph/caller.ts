/** The caller, as far as responses have shown who that is. */
import type { FieldBuilder } from '../engine/fields/node.ts';
import { User } from './types/user.ts';

/** Earlier responses told the id, and perhaps a name. */
const idOnly = { members: ['id'] };

export const callerField = <Shape>(
  t: FieldBuilder<Shape>,
  description: string,
  nullIf = 'no response has named the caller yet: see `Viewer.user`',
) =>
  t.field({
    type: User,
    nullable: true,
    description,
    nullIf,
    representation: idOnly,
    resolve: (_, __, { viewer }) => viewer.person ?? null,
  });

/** The caller, in the payload of a deletion, under the name that the record had for its owner. */
export const formerOwner = (name: string) => {
  return <Shape>(t: FieldBuilder<Shape>) => ({
    [name]: callerField(
      t,
      'The caller, whose lists had it. Fields other than the id, and a name not told yet, cost a call.',
    ),
  });
};
