/** What the service always sends of notes. */
import { type PresenceTable, page, words } from './presence.ts';

export const notePresence = {
  NoteRecord: words(
    'id alt title summary|content privacy can_reply publish_time update_time photos liked_count recs_count comments_count|comment_count',
  ),
  NoteCommentRecord: ['id', 'content', 'created', 'author'],
  NotePage: [...page, 'notes'],
  NoteCommentPage: [...page, 'comments'],
} satisfies PresenceTable;
