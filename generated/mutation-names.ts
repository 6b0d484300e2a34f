// Printed by "npm run codegen" from the schema; not edited by hand.

/** The mutations of the schema. */
export type MutationName =
  | 'addEventInterest'
  | 'addNotePictures'
  | 'collectBook'
  | 'createAnnotation'
  | 'createEvent'
  | 'createNote'
  | 'createNoteComment'
  | 'createReview'
  | 'deleteAnnotation'
  | 'deleteCollection'
  | 'deleteEvent'
  | 'deleteNote'
  | 'deleteNoteComment'
  | 'deleteReview'
  | 'joinEvent'
  | 'leaveEvent'
  | 'likeNote'
  | 'removeEventInterest'
  | 'unlikeNote'
  | 'updateAnnotation'
  | 'updateCollection'
  | 'updateEvent'
  | 'updateNote'
  | 'updateReview';
