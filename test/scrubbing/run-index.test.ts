import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hashesOf, RunIndex } from '../../lib/scrubbing/run-index.ts'

// Runs whose hashes are equal for each base that is 5 modulo 64, found by lattice reduction.
const COLLIDING =
  '瞡烎蔮綡氯磢釮离縭埓攱崯桱湣泭篗狄譝羲彿疺漥遬畛癏縓授红瀹痩羜瞮眾璾篱琫蚲芎舫瑵' +
  '漻騗赥惽訷攓霅燵纅呴汹攨壡珆屝扚瘉聥憋浃腡盽艧濷獬虉臶総蓪畱辐璓痝膰忒猫奃秘恺跙' +
  '縷墲婆癓狥篺菪榭矮清訳蕨椎竟涽瓀潛駮蕢縷蚡毞橮稩綅幄嚢厷祫梄絚暍箄幞苸渲神捼繢憰' +
  '筋忶萞嬳籩爞茺枥澯隭贐膤缹斧蘴菔潃魚緘輥烥貆扬钇爰郻燥擞怄灱濓臂獠蛽繖蕗簞蝕艈萳' +
  '皺祟玢泧耰憧铰碏爎銥油庲膊獳費爢眩癓烀閔枳糽垰篈濷鐴逡适溓潪瞱跼眝監潉釗珑觃丅紿' +
  '綨巓僋歘疘歝趁緤濥错贳跫窍蝡揷秷滥鶫臢濶瀃狙瞢鬒瀄钴褈餈辮襞璂莢癖綬敤糦槈耂瞚衈' +
  '玥蒳肜鋴瘧製姤蜈稷此戀熋炙烜坜稁漺驐認漭渶璤贏磋炚輢锧鱥骊蠦溡煟漳骛詂槄絡犵賶脘' +
  '窹曑檜當脋竟猬筆瀙鎌踷鈦醡疚瘫蚐竻撪沀芥緭瀖猄簧穡橊懝璆萵缘祉桔竪旁昉錚洆皿盓羒' +
  '眵畭眈荢痿蛳材肪獲蘏臜葅狌蓳盂槕犡趑猽童曭炍牱边秽溘原莎睕窖蛫罠片鄊毃烦糇礈峫組' +
  '缟乽簇居狟橩瑷灑窸曥樇睎翐琻蔽枾窦暃牍揤滚砕坿渰疏蒅嫌榀捱睷熠褐紴慘侥儧秐攐踃瞽'

describe('RunIndex', () => {
  it('finds the first occurrence of each run that a value has', () => {
    const found = new RunIndex('abcdef abcd', 4).find('xbcdeabcd')
    assert.deepEqual([...found], [-1, 1, -1, -1, -1, 0])
  })

  it('finds the runs of random texts as String.indexOf() does', () => {
    for (const letters of ['ab', 'abc\u4e2d', 'a\ud83d\ude00\0']) {
      const random = (length: number): string =>
        Array.from({ length }, () => letters[Math.floor(Math.random() * letters.length)]).join('')
      for (let i = 0; i < 200; i++) {
        const [text, value] = [random(60 + i), random(90)]
        for (const length of [4, 8]) {
          const runs = Array.from({ length: 91 - length }, (_, at) => value.slice(at, at + length))
          assert.deepEqual(
            [...new RunIndex(text, length).find(value)],
            runs.map((run) => text.indexOf(run)),
          )
        }
      }
    }
  })

  it('compares few runs, also of those that differ in their last character only', () => {
    const runs = Array.from({ length: 300 }, (_, i) => `aaaaaaa${String.fromCharCode(0x4e00 + i)}`)
    // 0.2 with most random bases, and 150 if all runs had one hash.
    assert.ok(compared(hashesOf, runs.join('')) < 20)
  })

  // The first base is 2 ** 20 + 5. A base of 2 ** 20 + 1, which is 1 modulo 8, has only 4,096 different powers.
  it('compares few runs with each random base', async (t) => {
    const digits = (i: number): string => i.toString(4).padStart(8, '0')
    const runs = Array.from({ length: 1_000 }, (_, i) => digits((i * 40_503) % 65_536))
    const text = runs
      .join('')
      .replace(/\d/g, (digit) => '\u3800\u5800\u7800\u9800'[Number(digit)] ?? '')
    for (const random of [2 ** -12, 2 ** -8, 0.5, 1 - 2 ** -12]) {
      t.mock.method(Math, 'random', () => random)
      const copy: typeof import('../../lib/scrubbing/run-index.ts') = await import(
        `../../lib/scrubbing/run-index.js?random=${random}`
      )
      t.mock.restoreAll()
      for (const each of [text, COLLIDING]) {
        const count = compared(copy.hashesOf, each)
        assert.ok(count < 1, `${count} runs for each run with ${random}`)
      }
    }
  })
})

// Returns with how many other runs of 8 characters of a text each one is compared, while the text is indexed.
function compared(hashes: typeof hashesOf, text: string): number {
  const codes = Int32Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
  const lists = new Map<number, Set<string>>()
  let count = 0
  // As many bits as the index of the text has.
  const bits = 32 - Math.clz32(2 * text.length + 1)
  for (const [at, hash] of hashes(codes, 8, bits).entries()) {
    const list = lists.get(hash) ?? new Set()
    lists.set(hash, list)
    const run = text.slice(at, at + 8)
    if (!list.has(run)) count += list.size
    list.add(run)
  }
  return count / text.length
}
