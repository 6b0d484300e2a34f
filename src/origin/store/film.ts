import { type Slice, Store, type StorePage } from './database/database.ts';
import type { Stored } from './database/schema.ts';
import { containsTerms } from './text-search.ts';

export class FilmStore extends Store {
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
