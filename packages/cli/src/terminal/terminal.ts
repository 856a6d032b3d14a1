import { cleanLine } from './clean-text.ts'
import { truncate } from './width.ts'

/** What a program has of its process. */
export interface Terminal {
  readonly out: (text: string) => void
  readonly error: (text: string) => void
  /** The width of stdout; undefined when it is not a terminal. */
  readonly columns: () => number | undefined
  /** The same of stderr. */
  readonly errorColumns: () => number | undefined
  readonly outIsTerminal: boolean
  readonly errorIsTerminal: boolean
  readonly inputIsTerminal: boolean
  /** All of stdin. */
  readonly readInput: () => Promise<string>
  /** One line that is not shown while it is typed. It asks when nothing is shown any more: keys may come at once. */
  readonly readHidden: (ask: () => void) => Promise<string>
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
const DEFAULT_COLUMNS = 80
/** A note replaces the line of a progress, which is drawn again below it. */
export const ERASE_LINE = `\r${String.fromCharCode(27)}[K`

/** Whether a line on stderr can be erased and drawn again. */
export const canRedraw = (
  { errorIsTerminal }: Pick<Terminal, 'errorIsTerminal'>,
  { TERM: term }: Readonly<Record<string, string | undefined>>,
): boolean => errorIsTerminal && term !== 'dumb'

export interface Progress {
  readonly say: (text: string) => void
  readonly end: () => void
}

export const NO_PROGRESS: Progress = { say: () => {}, end: () => {} }

/** A line on stderr that moves while something takes long. A second row could not be erased, so it is cut. */
export function showProgress(terminal: Pick<Terminal, 'error' | 'errorColumns'>, text: string): Progress {
  let [current, frame, isShown] = [text, 0, true]
  const draw = () => {
    const width = (terminal.errorColumns() ?? DEFAULT_COLUMNS) - 3
    terminal.error(`${ERASE_LINE}${FRAMES[frame++ % FRAMES.length]} ${truncate(cleanLine(current), width)}`)
  }
  draw()
  const timer = setInterval(draw, FRAME_MS)
  return {
    say: (next) => {
      current = next
    },
    end: () => {
      clearInterval(timer)
      if (isShown) terminal.error(ERASE_LINE)
      isShown = false
    },
  }
}
