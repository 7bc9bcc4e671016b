import { phraseOf } from './text-forms.ts'

/**
 * Decides whose the parts are that a text shares with hidden values. A part is the client's if it has sent all of it: as values, or
 * as words in this order. Removes the labels of the other owner: they must not tell a client which of its texts are hidden values.
 *
 * @param own Labels of the characters that the text shares with values of the client; 0 for others.
 * @param hidden The same for hidden values.
 * @param findSent Returns those of some phrases, see `phraseOf()`, that the client has sent.
 */
export function separate(
  text: string,
  own: Uint16Array,
  hidden: Uint16Array,
  findSent: (phrases: ReadonlySet<string>) => ReadonlySet<string>,
): void {
  const parts: { at: number; end: number; rest: string; whole: string }[] = []
  for (let at = 0, end = 0; at < text.length; at++) {
    if (!hidden[at]) continue
    let start = at
    // A value with a digit may be a part of a word.
    while (start > end && isWithinWord(text, start)) start--
    end = at + 1
    while (hidden[end] || isWithinWord(text, end)) end++
    let rest = ''
    for (let i = at; i < end; i++) rest += hidden[i] && !own[i] ? text[i] : ' '
    parts.push({ at, end, rest: phraseOf(rest), whole: phraseOf(text.slice(start, end)) })
    at = end - 1
  }
  if (parts.length === 0) return
  const sent = findSent(new Set(parts.flatMap(({ rest, whole }) => [rest, whole])))
  for (const { at, end, rest, whole } of parts) {
    const isOwn = rest === '' && whole !== ''
    if (isOwn || sent.has(rest) || sent.has(whole)) hidden.fill(0, at, end)
    else for (let i = at; i < end; i++) if (hidden[i]) own[i] = 0
  }
}

// Reports whether a word continues at an index. Any character that is not ASCII may be folded into letters, but not a border.
function isWithinWord(text: string, at: number): boolean {
  return /^[a-z\d\x80-\ud7ff\ud801-\uffff]{2}$/i.test(text.slice(at - 1, at + 1))
}
