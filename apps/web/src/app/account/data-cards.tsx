import { time } from '../format.ts'
import { Problem } from '../parts/problem.tsx'
import type { Me } from '../session/me.ts'
import { useRun } from '../session/use-run.ts'
import { EXPORTED } from './export-data.ts'
import { PROGRAMS } from './notification-list.tsx'

/** Programs act for users, not for wallets. They have a page of the API, which works without script. */
export const Programs = () => (
  <section className="card">
    <header>
      <h2>Connected programs</h2>
    </header>
    <div className="pad stack">
      <p className="muted sm">
        Assistants and other programs that you let act in your name: what each may do, what it changed, and a
        button that ends its connection at once.
      </p>
      <div>
        <a className="btn" href={PROGRAMS}>
          See and end connections
        </a>
      </div>
    </div>
  </section>
)

interface SessionsProps {
  readonly session: Me['session']
  readonly onEndAll: () => Promise<unknown>
}

export function Sessions({ session, onEndAll }: SessionsProps) {
  const { isRunning, error, run } = useRun()
  return (
    <section className="card">
      <header>
        <h2>Signed in</h2>
      </header>
      <div className="pad stack">
        {session !== null && (
          <p className="muted sm">
            In this browser until {time(session.expires_at)}
            {session.reads_only && '. It only reads: each change asks the wallet'}.
          </p>
        )}
        <Problem error={error} />
        <div>
          <button className="btn" type="button" disabled={isRunning} onClick={() => void run(onEndAll)}>
            Sign out in every browser
          </button>
        </div>
      </div>
    </section>
  )
}

interface ExportProps {
  readonly onExport: () => Promise<unknown>
}

export function Export({ onExport }: ExportProps) {
  const { isRunning, error, run } = useRun()
  return (
    <section className="card">
      <header>
        <h2>Your data</h2>
      </header>
      <div className="pad stack">
        <p className="muted sm">
          One file of JSON with your account, agents, bounties, notifications and your newest{' '}
          {EXPORTED.orders.toLocaleString('en')} orders, of the newest {EXPORTED.ordersInFull} also deliveries
          and messages.
        </p>
        <Problem error={error} />
        <div>
          <button className="btn" type="button" disabled={isRunning} onClick={() => void run(onExport)}>
            {isRunning ? 'Reading …' : 'Export your data'}
          </button>
        </div>
      </div>
    </section>
  )
}
