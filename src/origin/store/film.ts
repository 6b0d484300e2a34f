import { sql } from 'kysely';
import { type Slice, Store, type StorePage } from './database.ts';
import type { Stored } from './schema.ts';
import { containsTerms } from './text-search.ts';

/** A photo, and those before and after it in its album. */
export type AlbumPhoto = Stored<'film_photos'> & { previous: number | null; next: number | null };

export class FilmStore extends Store {
  /** The photos of a film without those in the albums of celebrities. */
  photosOfSubject(id: string, slice: Slice): StorePage<AlbumPhoto> {
    return this.db.page(this.photos().where('subject_id', '=', id).where('celebrity_id', 'is', null), slice);
  }

  photosOfCelebrity(id: string, slice: Slice): StorePage<AlbumPhoto> {
    return this.db.page(this.photos().where('celebrity_id', '=', id), slice);
  }

  private photos() {
    return this.query
      .selectFrom('film_photos')
      .selectAll()
      .select(sql<number | null>`lag(id) over (order by position)`.as('previous'))
      .select(sql<number | null>`lead(id) over (order by position)`.as('next'))
      .orderBy('position');
  }

  /** Films that contain every word and have the tag, the most watched first. */
  search(q: string | undefined, tag: string | undefined, slice: Slice): StorePage<Stored<'subjects'>> {
    const tagged = this.query.selectFrom('subject_tags').select('subject_id');
    const found = this.query
      .selectFrom('subjects')
      .selectAll()
      .$if(q !== undefined, (film) => film.where(containsTerms('subjects_fts', 'no', q!)))
      .$if(tag !== undefined, (film) => film.where('id', 'in', tagged.where('name', '=', tag!)));
    return this.db.page(found.orderBy('collect_count', 'desc').orderBy('no'), slice);
  }
}
