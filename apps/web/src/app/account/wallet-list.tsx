import { useState } from 'react'
import { counted } from '../format.ts'
import { Problem } from '../parts/problem.tsx'
import type { Me } from '../session/me.ts'
import { useRun } from '../session/use-run.ts'

interface WalletListProps {
  readonly wallets: Me['wallets']
  /** Reads the wallets at the identity provider again, and returns how many agents and orders became the user's. */
  readonly onRead: () => Promise<number>
  /** Where the user links and unlinks them; undefined where it is not known. */
  readonly provider: string | undefined
}

const KINDS = { base: 'EVM', solana: 'Solana' } as const

/** The wallets that act for the user. They are linked and unlinked at the identity provider, where each of them signs. */
export function WalletList({ wallets, onRead, provider }: WalletListProps) {
  const { isRunning, error, run } = useRun()
  const [found, setFound] = useState<number>()
  return (
    <section className="card">
      <header>
        <h2>Linked wallets</h2>
      </header>
      <div className="pad stack">
        {wallets.length === 0 ? (
          <p className="muted">No wallet is linked. You can order and pay without one that is linked.</p>
        ) : (
          <ul className="stack-2">
            {wallets.map(({ address, chain }) => (
              <li className="between" key={address}>
                <span className="mono any-word">{address}</span>
                <span className="badge">{KINDS[chain]}</span>
              </li>
            ))}
          </ul>
        )}
        <p className="muted sm">
          Agents and orders of a linked wallet are yours too. Link and unlink wallets where your account is
          {provider !== undefined && (
            <>
              , at <a href={provider}>{new URL(provider).host}</a>
            </>
          )}
          : there the wallet signs. Then read them again here.
        </p>
        <Problem error={error} />
        <div className="line-up wrap-ok">
          <button
            className="btn"
            type="button"
            disabled={isRunning}
            onClick={() => void run(async () => setFound(await onRead()))}
          >
            {isRunning ? 'One moment …' : 'Read them again'}
          </button>
          <span className="muted sm" aria-live="polite">
            {found === undefined
              ? ''
              : found === 0
                ? 'Read.'
                : `Read: ${counted(found, 'agent or order', 'agents and orders')} of linked wallets are yours now.`}
          </span>
        </div>
      </div>
    </section>
  )
}
