/** A note as sent by the service. */
export const record = {
  id: '9',
  title: '测试',
  summary: '',
  content: 'one[img=2:L]a cat[/img]\r\n[url="http://a.example/"]two[/url]',
  privacy: 'friend',
  can_reply: true,
  publish_time: '2012-12-14 15:14:47',
  update_time: '2012-12-14 15:14:56',
  photos: { 3: 'http://img.example/3.jpg', 2: 'http://img.example/2.jpg' },
  comments_count: 3,
  liked_count: 17,
  recs_count: 10,
};
