import { knownWords } from './known-words.ts'
import { WINDOW } from './run-index.ts'
import { fold, squeeze, withoutGroups } from './text-forms.ts'
import type { TextMask } from './text-mask.ts'

/** Whether a client has sent a value, or may be unable to read it. */
export type ValueOwner = 'client' | 'hidden'

// Match the parts of a folded value, of WINDOW characters or more: those between separators, with white space and without it, and
// their words.
const PARTS: readonly RegExp[] = [
  /[^\s;,&"'()[\]{}<>|=][^;,&"'()[\]{}<>|=]{6,}[^\s;,&"'()[\]{}<>|=]/g,
  /[^\s;,&"'()[\]{}<>|=]{8,}/g,
]
const WORDS = /[a-z\d\x80-\uffff]{8,}/g
// The share of the runs of a word that a text must have.
const SHARE = 3 / 4
/** The number of runs of a word that suffices: only the beginning of a text is searched. */
export const SUFFICIENT = 42

// Any character that is not ASCII may be folded into letters.
const WORD_CHARACTER = /[a-z\d\x80-\uffff]/i

/**
 * Masks the texts that the client of a request reads. They must not tell the client whether a text that it has sent is a value
 * that it cannot read. So a text has a hidden value only if it has all of it, all of a part between separators, or three quarters
 * of a word of eight letters or more: a client that does not know most of a word cannot guess it piece by piece. Of such a text,
 * the client reads only the known words: the masks of its own values would otherwise reveal which of them have a part of the
 * hidden one. A hidden value of which the client has sent all letters and digits counts as its own.
 */
export class ClientMask {
  readonly #mask: TextMask
  // 1 for each run of a hidden value.
  readonly #hidden: Uint16Array
  // 1 for each run that the client has sent.
  readonly #sent: Uint16Array

  constructor(mask: TextMask) {
    this.#mask = mask
    this.#hidden = mask.noRuns()
    this.#sent = mask.noRuns()
  }

  /** Masks the characters that the texts share with a folded value. */
  cover(label: string, folded: string, owner: ValueOwner): void {
    if (owner === 'client') this.#mask.cover(label, folded)
    else {
      for (const form of [folded, withoutGroups(folded)])
        if (form.length >= WINDOW) this.#hide(form)
    }
  }

  #hide(folded: string): void {
    const runs = this.#mask.runsOf(folded)
    const hide = (start: number, length: number, share: number): void => {
      const end = start + length + 1 - WINDOW
      let found = 0
      for (let at = start; at < end; at++) if ((runs[at] as number) >= 0) found++
      const isEnough = found >= share * (end - start) || (share < 1 && found >= SUFFICIENT)
      if (found === 0 || !isEnough) return
      for (const first of runs.subarray(start, end)) if (first >= 0) this.#hidden[first] = 1
    }
    hide(0, folded.length, 1)
    for (const pattern of PARTS) {
      for (const { 0: part, index } of folded.matchAll(pattern)) hide(index, part.length, 1)
    }
    for (const { 0: word, index } of folded.matchAll(WORDS)) hide(index, word.length, SHARE)
  }

  /** Shows the parts of hidden values that a text of the client has, with the same separators or others. */
  send(text: string): void {
    const folded = fold(text)
    // Most fields have no separators.
    for (const form of new Set([folded, squeeze(folded)])) {
      for (const first of this.#mask.runsOf(form)) if (first >= 0) this.#sent[first] = 1
    }
  }

  /**
   * Returns the texts, with labels in place of masked characters; of a text with a hidden value the known words and shapes.
   *
   * @param maxLength Maximum characters of each text that are shown.
   */
  texts(maxLength: number): string[] {
    const mask = this.#mask
    const own = mask.charactersOf()
    const labels = own.slice()
    // A hidden number does not consist of the numbers that the client has sent.
    mask.coverShort(labels, own)
    const sent = mask.charactersOf(this.#sent)
    const hidden = mask.charactersOf(this.#hidden)
    const isUnsent = (at: number): boolean =>
      !own[at] && !sent[at] && WORD_CHARACTER.test(mask.joined[at] as string)
    return mask.mapTexts((text, start) => {
      const shown = text.slice(0, maxLength)
      const isHidden = hidden
        .subarray(start, start + text.length)
        .some((run, at) => run > 0 && isUnsent(start + at))
      return isHidden ? knownWords(shown) : mask.withLabels(shown, labels.subarray(start))
    })
  }
}
