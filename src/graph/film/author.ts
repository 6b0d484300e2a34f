import type { FilmUserRecord } from '../../contract/film.ts';
import { type FieldBuilder, embedded } from '../node.ts';
import { User } from '../user.ts';

/** `author` of a photo, a review or a comment. */
export const authorOf = <Shape extends { author?: FilmUserRecord }>(t: FieldBuilder<Shape>, description: string) =>
  t.field({ type: User, nullable: true, description, needs: ['author'], resolve: ({ author }) => embedded(author) });
