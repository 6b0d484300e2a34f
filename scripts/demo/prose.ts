import type { Chance } from '../../src/origin/store/seed/chance.ts';

// prettier-ignore
const subjects = ['这本书', '作者', '故事里的人', '读到一半的时候，我', '这一章', '译者', '那个结尾', '每一个配角', '书里的城市', '时间', '记忆', '写信的人', '开头那场雨', '主人公'];
// prettier-ignore
const verbs = ['慢慢地讲起', '反复提到', '避开了', '重新打量', '安静地走过', '一次次回到', '拆开又拼好', '认真地记下', '忽然放下', '从不解释', '悄悄改写了', '小心地守着'];
// prettier-ignore
const objects = ['那条总也走不完的街', '几代人的名字', '一张旧照片', '没有寄出的信', '海边的房子', '饭桌上的沉默', '一个夏天', '失而复得的东西', '所有没说出口的话', '窗外的光', '一段漫长的旅行', '彼此的孤单'];
// prettier-ignore
const endings = ['，像是昨天才发生的事。', '，而谁也没有回头。', '。', '，直到最后一页。', '，这才是它动人的地方。', '，读完要缓一缓。', '，不急着给出答案。', '，留下很多空白。', '，又轻又重。', '！', '，至今想起来还会笑。'];

export function sentence(chance: Chance): string {
  return chance.pick(subjects) + chance.pick(verbs) + chance.pick(objects) + chance.pick(endings);
}

/** Sentences until there are at least this many characters, a new paragraph now and then. */
export function prose(chance: Chance, characters: number): string {
  let text = '';
  let inParagraph = 0;
  while (text.length < characters) {
    text += sentence(chance);
    inParagraph++;
    if (text.length < characters && inParagraph > 3 && chance.oneIn(3)) {
      text += '\n';
      inParagraph = 0;
    }
  }
  return text;
}

// prettier-ignore
const headings = ['序言', '归来', '雨季', '长街', '旧信', '河岸', '镜子', '夜行', '灯塔', '远山', '回声', '客人', '钟声', '渡口', '余烬', '空房间', '第二个春天', '无人之地'];

/** A table of contents, one heading a line. */
export function contents(chance: Chance, chapters: number): string {
  return Array.from({ length: chapters }, (_, n) => `第${n + 1}章 ${chance.pick(headings)}`).join('\n');
}

export const heading = (chance: Chance) => chance.pick(headings);
