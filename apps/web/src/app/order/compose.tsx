import type { FormEvent } from 'react'
import { Problem } from '../parts/problem.tsx'
import { useRun } from '../session/use-run.ts'

const MAX_LENGTH = 2_000

interface ComposeProps {
  readonly to: string
  readonly onSend: (content: string) => Promise<unknown>
}

/** Writes to the other party. The text stays when it could not be sent. */
export function Compose({ to, onSend }: ComposeProps) {
  const { isRunning, error, run } = useRun()
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const content = String(new FormData(form).get('content') ?? '').trim()
    if (content !== '' && (await run(() => onSend(content)))) form.reset()
  }
  return (
    <form className="stack-2" onSubmit={send}>
      <div className="compose">
        <textarea
          className="input"
          name="content"
          rows={1}
          required
          maxLength={MAX_LENGTH}
          aria-label={`Message to ${to}`}
          placeholder={`Write to ${to}`}
        />
        <button className="btn" type="submit" disabled={isRunning}>
          {isRunning ? 'Sending …' : 'Send'}
        </button>
      </div>
      <Problem error={error} />
    </form>
  )
}
