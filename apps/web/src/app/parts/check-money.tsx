import { MarketError } from '@market/sdk/client'
import type { LiabilityProof } from '@market/solvency'
import { useRouteContext } from '@tanstack/react-router'
import { type ChangeEvent, useRef, useState } from 'react'
import { type CheckedProof, checkProof, type Published, readSavedProofs, verdictOf } from '../check-proof.ts'
import { usdc } from '../format.ts'
import { NETWORKS } from '../names.ts'
import { AlertIcon, FileIcon, SaveIcon, ShieldIcon, TickIcon } from './icons.tsx'

export type CheckStateValue =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running' }
  | { readonly kind: 'problem'; readonly text: string }
  | { readonly kind: 'checked'; readonly results: readonly CheckedProof[] }

/** Checks on this device that what is owed to a user is part of the published and anchored roots. */
export function CheckMoney(published: Published) {
  const { market } = useRouteContext({ from: '__root__' })
  const [state, setState] = useState<CheckStateValue>({ kind: 'idle' })
  const treasury = useRef<HTMLInputElement>(null)
  const check = async (read: () => Promise<readonly LiabilityProof[]>) => {
    setState({ kind: 'running' })
    try {
      const proofs = await read()
      const entered = treasury.current?.value.trim() ?? ''
      const known = entered === '' ? published : { ...published, knownTreasury: entered }
      const results: CheckedProof[] = []
      for (const proof of proofs) results.push(await checkProof(proof, known))
      setState({ kind: 'checked', results })
    } catch (error) {
      setState({ kind: 'problem', text: sentenceOf(error) })
    }
  }
  const newest = published.anchors.find(({ anchored }) => anchored !== null)
  const own = () =>
    check(async () => {
      const snapshots = newest?.networks.map(({ snapshot_id }) => ({ snapshot_id })) ?? [{}]
      const proofs: LiabilityProof[] = []
      for (const snapshot of snapshots)
        proofs.push(...(await market.getSolvencyProof({ limit: 100, ...snapshot })).data)
      if (proofs.length === 0) throw new Error('The marketplace says that nothing is owed to you.')
      return proofs
    })
  const open = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    const [file] = currentTarget.files ?? []
    if (file === undefined) return
    void check(async () => readSavedProofs(await file.text()))
    currentTarget.value = ''
  }
  return (
    <section className="card" id="check">
      <header>
        <h2>Check that your money is counted</h2>
        <span className="push">Runs in your browser</span>
      </header>
      <div className="pad stack">
        <p className="muted measure">
          Your leaf and its path are hashed here, on your device, and compared with the root in a memo on
          Solana. The server names the account that signed it, and sends the code of this check. Enter the
          treasury address that you know from elsewhere, or use the command line, to rely on neither.
        </p>
        <label className="stack">
          <span className="muted sm">Treasury address on Solana that you know (optional)</span>
          <input className="input" ref={treasury} autoComplete="off" spellCheck={false} />
        </label>
        <div className="line-up wrap-ok">
          <button className="btn primary" type="button" onClick={own} disabled={state.kind === 'running'}>
            <ShieldIcon /> Check what is owed to me
          </button>
          <label className="btn">
            <FileIcon /> Open a saved proof
            <input className="visually-hidden" type="file" accept=".json,application/json" onChange={open} />
          </label>
        </div>
        <noscript>
          <p className="banner">The check needs JavaScript. The command line does it without a browser.</p>
        </noscript>
        <div className="stack" aria-live="polite">
          <CheckState state={state} />
        </div>
        <p className="muted sm">
          Save a proof with <code>GET /api/solvency/proof</code>, or check it with{' '}
          <code>market solvency verify</code>. <a href="/docs/contract/solvency">How the proof works</a>
        </p>
      </div>
    </section>
  )
}

const sentenceOf = (error: unknown): string => {
  if (error instanceof MarketError && error.status === 401)
    return 'You are not signed in. Open a saved proof instead, or check with the command line.'
  return error instanceof Error ? error.message : String(error)
}

/** How far a check is, or what it found. */
export function CheckState({ state }: { readonly state: CheckStateValue }) {
  switch (state.kind) {
    case 'idle':
      return null
    case 'running':
      return <p className="muted">Checking …</p>
    case 'problem':
      return (
        <p className="banner bad">
          <AlertIcon />
          <span className="any-word">{state.text}</span>
        </p>
      )
    case 'checked':
      return state.results.map((result) => (
        <Result key={`${result.proof.snapshot_id} ${result.proof.leaf.salt}`} {...result} />
      ))
  }
}

const TITLES = {
  ok: 'is included',
  failed: 'is NOT proven: a check failed',
  unknown: 'is in the published root',
} as const
const STYLES = { ok: 'result', failed: 'result bad-result', unknown: 'result plain-result' } as const

function Result({ proof, steps }: CheckedProof) {
  const verdict = verdictOf(steps)
  const save = () => {
    const url = URL.createObjectURL(new Blob([JSON.stringify([proof], undefined, 2)]))
    Object.assign(document.createElement('a'), { href: url, download: 'proof.json' }).click()
    URL.revokeObjectURL(url)
  }
  return (
    <article className={STYLES[verdict]} data-verdict={verdict}>
      <div className="line-up wrap-ok">
        <Mark result={verdict} />
        <strong className="any-word">
          {amountText(proof.leaf.micros)} USDC {TITLES[verdict]}
        </strong>
        <span className="muted sm any-word">
          {NETWORKS[proof.network]?.label ?? proof.network} · {proof.leaf.account}
        </span>
      </div>
      <ol className="checklist mt3">
        {steps.map(({ result, what, detail }) => (
          <li key={what}>
            <Mark result={result} />
            <span>
              {what}
              <br />
              <span className="mono">{detail}</span>
            </span>
          </li>
        ))}
      </ol>
      <div className="line-up wrap-ok mt4">
        <button className="btn sm" type="button" onClick={save}>
          <SaveIcon /> Save this proof
        </button>
        <span className="muted sm">Keep it: it shows what was owed to you on that day.</span>
      </div>
    </article>
  )
}

/** A tampered amount is shown as it is. */
const amountText = (micro: string): string =>
  /^\d+$/.test(micro) ? usdc((Number(micro) / 1e6).toFixed(6).replace(/0{1,4}$/, '')) : micro

const Mark = ({ result }: { readonly result: keyof typeof TITLES }) =>
  result === 'ok' ? (
    <TickIcon />
  ) : (
    <span className={result === 'failed' ? 'bad' : 'warn'} role="img" aria-label={result}>
      <AlertIcon />
    </span>
  )
