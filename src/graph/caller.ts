/** The caller, as far as responses have shown who that is. */
import type { PersonFacts, Viewer } from '../upstream/auth/viewer.ts';
import type { FieldBuilder } from '../engine/fields/node.ts';
import { asText } from '../engine/values/decode.ts';
import { User, type UserShape, isNumber, isSite } from './types/user.ts';

/** Earlier responses had the id, and perhaps a name. */
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
export const formerOwner =
  (name: string) =>
  <Shape>(t: FieldBuilder<Shape>) => ({
    [name]: callerField(
      t,
      'The caller, whose lists had it. Fields other than the id, and a name not told yet, cost a call.',
    ),
  });

type Author = Partial<Pick<UserShape, 'id' | 'uid' | 'type'>> | null | undefined;

/** What a type says of the rights of the caller. */
interface Rights<Shape, Needs extends keyof Shape & string> {
  /** The thing, as descriptions name it. */
  thing: string;
  needs: readonly Needs[];
  authorOf: (record: Pick<Shape, Needs>) => Author;
  /** Whether its author may change it. */
  isChangeable?: (record: Pick<Shape, Needs>) => boolean;
  /** What the descriptions say beside the rest. */
  notes?: Partial<Record<'update' | 'delete', string>>;
}

/**
 * The fields that say what the caller may do with what a person made. They are computed for each request from what is public, so no cache
 * has them, and no call finds out who the caller is.
 */
export function viewerRights<Shape, Needs extends keyof Shape & string>(
  t: FieldBuilder<Shape>,
  { thing, needs, authorOf, isChangeable = () => true, notes = {} }: Rights<Shape, Needs>,
) {
  const right = (description: string, isGiven: (record: Pick<Shape, Needs>) => boolean = () => true, note = '') =>
    t.computed<'Boolean', Needs, never, true>({
      type: 'Boolean',
      nullable: true,
      description: `${description}${note && ` ${note}`} No call finds out who the caller is.`,
      nullIf: `no response has named the caller yet (see \`Viewer.user\`), or the service does not say with the ${thing} who made it`,
      upstream: false,
      viewerOnly: 'named',
      needs,
      resolve(record, _, { viewer: { person }, upstream }) {
        if (!person) {
          upstream.cachePolicy.restrict(null); // the next response may name the caller
          return null;
        }
        const isAuthor = isCaller(authorOf(record), person);
        return isAuthor && isGiven(record);
      },
    });
  return {
    viewerDidAuthor: right(`Whether the caller made the ${thing}.`),
    viewerCanUpdate: right(`Whether the caller may change the ${thing}.`, isChangeable, notes.update),
    viewerCanDelete: right(`Whether the caller may delete the ${thing}.`, undefined, notes.delete),
  };
}

/** NOT_OWNER if the author is certainly somebody else. */
export const refusalOf =
  <Shown>(authorOf: (record: Shown) => Author) =>
  (record: Shown, { person }: Viewer) =>
    isCaller(authorOf(record), person) === false ? ('NOT_OWNER' as const) : undefined;

/** Whether the author is the caller; null while one of them is unknown. */
export function isCaller(author: Author, person: PersonFacts | undefined): boolean | null {
  const [id, uid] = [asText(author?.id), asText(author?.uid)];
  if (!person || id === '') return null;
  if (isSite({ type: author?.type })) return false;
  if (id === person.id) return true;
  // Two different numbers are two people; a name instead of the number is compared with the name.
  if (isNumber(id) && isNumber(person.id)) return false;
  if (person.uid === undefined) return null;
  return id === person.uid || uid === person.uid;
}
