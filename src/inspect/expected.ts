/** What is expected of responses, beside the types of the interface. */

const words = (text: string): string[] => text.trim().split(/\s+/);

/** The service sends them, and nothing here reads them. */
export const unreadMembers: Readonly<Record<string, readonly string[]>> = {
  SubjectRecord:
    words(`videos popular_comments photos_count has_video share_url tags has_schedule collection trailers has_ticket bloopers
    clips`),
  FilmRating: ['details'],
  PhotoRecord: ['recs_count'],
  FilmReviewRecord: ['share_url', 'content'],
};

/** What an Atom text must look like. */
export const textForms: Readonly<Record<string, RegExp>> = {
  // A title that is absent is read as an empty one.
  'EventRecord.title': /\S/,
  'EventRecord.participants': /^\d+$/,
  'EventRecord.wishers': /^\d+$/,
  'EventRecord.invite_only': /^(?:yes|no)$/,
  'EventRecord.can_invite': /^(?:yes|no)$/,
  'EventRecord.startTime': /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/,
  'EventRecord.endTime': /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/,
  'EventRecord.point': /^-?[\d.]+ -?[\d.]+$/,
};
