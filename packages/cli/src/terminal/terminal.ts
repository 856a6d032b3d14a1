/** What a program has of its process. */
export interface Terminal {
  readonly out: (text: string) => void
  readonly error: (text: string) => void
  /** The width of stdout; undefined when it is not a terminal. */
  readonly columns: () => number | undefined
  readonly outIsTerminal: boolean
  readonly errorIsTerminal: boolean
  readonly inputIsTerminal: boolean
  /** All of stdin. */
  readonly readInput: () => Promise<string>
  /** One line that is not shown while it is typed. */
  readonly readHidden: () => Promise<string>
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
/** A note replaces the line of a progress, which is drawn again below it. */
export const ERASE_LINE = `\r${String.fromCharCode(27)}[K`

export interface Progress {
  readonly say: (text: string) => void
  readonly end: () => void
}

/** A line on stderr that moves while something takes long. Nothing where stderr is not a terminal. */
export function showProgress(terminal: Pick<Terminal, 'error' | 'errorIsTerminal'>, text: string): Progress {
  if (!terminal.errorIsTerminal) return { say: () => {}, end: () => {} }
  let [current, frame] = [text, 0]
  const draw = () => {
    terminal.error(`${ERASE_LINE}${FRAMES[frame++ % FRAMES.length]} ${current}`)
  }
  draw()
  const timer = setInterval(draw, FRAME_MS)
  return {
    say: (next) => {
      current = next
    },
    end: () => {
      clearInterval(timer)
      terminal.error(ERASE_LINE)
    },
  }
}
