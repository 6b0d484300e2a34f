import { type Fields, type ListPage, type Window, membersOf } from './endpoint.ts';
import {
  byAuthor,
  byOwnId,
  endpoint,
  endpointTable,
  gives,
  givesRecord,
  givesThatRecord,
  repeats,
  takes,
  v2,
} from './endpoint-table.ts';
import type { UserRecord } from './user.ts';

/** Most pictures in one request. */
export const NOTE_PICTURES_MAX = 3;

export const notePrivacies = ['public', 'friend', 'private'] as const;
export type NotePrivacy = (typeof notePrivacies)[number];
export const noteFormats = ['text', 'html_full', 'html_short', 'abstract'] as const;
export type NoteFormat = (typeof noteFormats)[number];
export const pictureLayouts = ['L', 'C', 'R'] as const;
export type PictureLayout = (typeof pictureLayouts)[number];

export interface NoteRecord {
  id: string;
  alt?: string;
  title: string;
  summary?: string;
  content?: string;
  privacy?: string;
  can_reply?: boolean;
  publish_time?: string;
  update_time?: string;
  photos?: Record<string, string>;
  comments_count?: number;
  /** `comments_count`, as the field table of the interface spells it. */
  comment_count?: number;
  liked_count?: number;
  recs_count?: number;
  /** Not specified; the real service sends it. */
  author?: UserRecord;
}
/** Every member that a note record may have. */
// prettier-ignore
export const noteMembers = membersOf<NoteRecord>()([
  'id', 'alt', 'title', 'summary', 'content', 'privacy', 'can_reply', 'publish_time', 'update_time', 'photos', 'comments_count',
  'comment_count', 'liked_count', 'recs_count', 'author',
]);

export interface NoteCommentRecord {
  id: string;
  content: string;
  created?: string;
  author?: UserRecord;
}
/** Every member that a comment record may have. */
export const noteCommentMembers = membersOf<NoteCommentRecord>()(['id', 'content', 'created', 'author']);

type NotePage = ListPage & { notes: NoteRecord[] };
type NoteCommentPage = ListPage & { comments: NoteCommentRecord[] };

interface NoteQuery extends Fields {
  format?: NoteFormat | undefined;
}
/** Each picture adds `layout_<pid>`, `desc_<pid>` and a file part `image_<pid>`. */
export interface NoteDraft {
  title: string;
  content: string;
  privacy?: string | undefined;
  can_reply?: boolean | undefined;
  /** `p_1,p_2` */
  pids?: string | undefined;
}
export interface NotePictures {
  pids: string;
  /** Absent: the pictures are appended. */
  content?: string | undefined;
}

/** 1006 is "target not found": elsewhere a rejection, here that there is no such note. */
const login = { login: true, absentOn: [1006] } as const;

// Keep the columns aligned.
// prettier-ignore
export const noteEndpoints = endpointTable({ ...v2, group: '/v2/note', share: 'viewer' }, {
  byId:          endpoint('GET /v2/note/:id',                        'community_basic_note', takes<NoteQuery>(),          gives<NoteRecord>(200),        { ...login, ...byOwnId }),
  userCreated:   endpoint('GET /v2/note/user_created/:id',           'community_basic_note', takes<NoteQuery & Window>(), gives<NotePage>(200),          { ...login, list: 'notes' }),
  comments:      endpoint('GET /v2/note/:id/comments',               'community_basic_note', takes<Fields & Window>(),    gives<NoteCommentPage>(200),   { ...login, list: 'comments' }),
  comment:       endpoint('GET /v2/note/:id/comment/:comment_id',    'community_basic_note', takes<Fields>(),             gives<NoteCommentRecord>(200), { ...login, repeats: [repeats('id', 'comment_id')] }),

  create:        endpoint('POST /v2/notes',                          'community_basic_note', takes<NoteDraft>(),          gives<NoteRecord>(201), givesRecord),
  update:        endpoint('PUT /v2/note/:id',                        'community_basic_note', takes<NoteDraft>(),          gives<NoteRecord>(202), givesThatRecord),
  delete:        endpoint('DELETE /v2/note/:id',                     'community_basic_note', takes(),                     gives<object>(200)),
  addPictures:   endpoint('POST /v2/note/:id',                       'community_basic_note', takes<NotePictures>(),       gives<NoteRecord>(200), givesThatRecord),
  createComment: endpoint('POST /v2/note/:id/comments',              'community_basic_note', takes<{ content: string }>(), gives<NoteCommentRecord>(201), { ...givesRecord, ...byAuthor }),
  deleteComment: endpoint('DELETE /v2/note/:id/comment/:comment_id', 'community_basic_note', takes(),                     gives<object>(200)),
  like:          endpoint('POST /v2/note/:id/like',                  'community_basic_note', takes(),                     gives<object>(200)),
  unlike:        endpoint('DELETE /v2/note/:id/like',                'community_basic_note', takes(),                     gives<object>(200)),
});
