import type { FilmUserRecord } from '../../api/film.ts';
import { type FieldBuilder, recordOrReference } from '../types/node.ts';
import { User, carried } from '../types/user.ts';

/** `author` of a photo, a review or a comment. */
export const authorOf = <Shape extends { author?: FilmUserRecord }>(t: FieldBuilder<Shape>, description: string) =>
  t.field({
    type: User,
    nullable: true,
    ...carried,
    description,
    needs: ['author'],
    resolve: ({ author }) => recordOrReference(author),
  });
