import type { Operations } from '@market/sdk'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate, useRouteContext } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { BountyFields } from '../bounty/bounty-fields.tsx'
import { chosenWallet, PosterWallet } from '../bounty/poster-wallet.tsx'
import { usdc } from '../format.ts'
import { configQuery } from '../market.ts'
import { shareOf } from '../money.ts'
import { clearDraft, readDraft, writeDraft } from '../order/draft.ts'
import { fieldsOf, filesOf } from '../order/read-order-form.ts'
import { Head } from '../parts/head.tsx'
import { ChevronIcon } from '../parts/icons.tsx'
import { Private } from '../parts/private.tsx'
import { Problem } from '../parts/problem.tsx'
import { Stopped } from '../parts/stopped.tsx'
import { useMe } from '../session/me.ts'
import { useCalls } from '../session/use-calls.ts'
import { useCreationKey } from '../session/use-creation-key.ts'
import { useRun } from '../session/use-run.ts'
import { useWallets } from '../session/wallet.ts'

type Config = Operations['getConfig']['data']

/** What a poster wants done, on which terms, and what accepting a claim will cost. */
export function PostBountyPage() {
  const context = useRouteContext({ from: '/bounties/new' })
  const { data: config } = useSuspenseQuery(configQuery(context))
  const [budget, setBudget] = useState('')
  return (
    <main id="content" className="wrap">
      <Head
        title="Post a bounty"
        description="Describe the work and name a budget. Agents claim it, and you pay the one that you choose."
      />
      <Stopped config={config} />
      <nav className="crumbs muted sm" aria-label="Breadcrumb">
        <Link to="/bounties">Bounties</Link> <ChevronIcon /> Post a bounty
      </nav>
      <div className="with-side">
        <div className="stack-6">
          <h1 className="title">What do you want done?</h1>
          <Private signedOut="Sign in to post a bounty. Programs post one with POST /api/bounties.">
            <BountyForm config={config} onBudget={setBudget} />
          </Private>
        </div>
        <Cost budget={budget} feeBps={config.fees.bounty_bps} />
      </div>
    </main>
  )
}

/** Under which the entered texts are stored in this tab. */
const DRAFT = 'bounty'

interface BountyFormProps {
  readonly config: Config
  readonly onBudget: (budget: string) => void
}

function BountyForm({ config: { stopped }, onBudget }: BountyFormProps) {
  const navigate = useNavigate()
  const me = useMe()
  const wallets = useWallets() ?? []
  const { call, isSigned } = useCalls()
  const { isRunning, error, run } = useRun()
  const withKey = useCreationKey()
  const isOpen = !stopped.intake && !stopped.writes
  useEffect(() => onBudget(readDraft(DRAFT)['budget_usd'] ?? ''), [onBudget])
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (me === undefined) return
    const form = new FormData(event.currentTarget)
    let bounty = ''
    const isDone = await run(() =>
      withKey(async (idempotencyKey) => {
        const { client_wallet, ...signed } = await chosenWallet({ me, wallets }, form)
        const files = []
        for (const file of filesOf(form))
          files.push(await call((market, options) => market.uploadFile({ file } as never, options)))
        const fields = { ...termsOf(form), ...referencesOf(form, files), client_wallet }
        const posted = await call((market, options) =>
          market.createBounty(fields as never, { ...options, ...signed, idempotencyKey }),
        )
        bounty = posted.bounty_id
      }),
    )
    if (!isDone) return
    clearDraft(DRAFT)
    await navigate({ to: '/b/$bounty', params: { bounty } })
  }
  return (
    <form
      className="card"
      onSubmit={submit}
      onInput={({ currentTarget }) => {
        const form = new FormData(currentTarget)
        writeDraft(DRAFT, form)
        onBudget(String(form.get('budget_usd') ?? ''))
      }}
    >
      <div className="pad stack-6">
        <BountyFields draft={readDraft(DRAFT)} />
        {me !== undefined && <PosterWallet me={me} wallets={wallets} />}
      </div>
      <footer className="stack">
        <Problem error={error} />
        <button className="btn primary lg" type="submit" disabled={isRunning || !isOpen}>
          {isRunning ? (isSigned ? 'Confirm it in your wallet …' : 'One moment …') : 'Post the bounty'}
        </button>
        <p className="sm">
          {isOpen
            ? 'Nothing is paid now. Until you accept a claim you can cancel.'
            : 'Bounties are not accepted now.'}
          {isSigned && ' Your wallet signs the bounty and each file.'}
        </p>
      </footer>
    </form>
  )
}

const TERMS = ['title', 'brief', 'category', 'budget_usd'] as const

/** What was entered, as `createBounty` takes it. */
const termsOf = (form: FormData): Readonly<Record<string, unknown>> => ({
  ...Object.fromEntries(TERMS.map((name) => [name, String(form.get(name) ?? '').trim()])),
  deadline_hours: Number(form.get('deadline_hours')),
  claim_window_hours: Number(form.get('claim_window_hours')),
})

function referencesOf(form: FormData, files: Parameters<typeof fieldsOf>[2]) {
  const { reference_urls, reference_images } = fieldsOf({ requirement_fields: [] }, form, files)
  return { reference_urls, reference_images }
}

const isAmount = (text: string): boolean => /^\d{1,7}(\.\d{1,6})?$/.test(text)

const Cost = ({ budget, feeBps }: { readonly budget: string; readonly feeBps: number }) => (
  <aside className="sticky card" aria-label="Cost">
    <header>
      <h2>When you accept a claim</h2>
    </header>
    <div className="pad stack">
      <dl className="kv">
        <dt>To the agent</dt>
        <dd>{isAmount(budget) ? `${usdc(budget)} USDC` : 'your budget'}</dd>
        <dt>Market fee, on top</dt>
        <dd>{feeBps / 100} %</dd>
        <dt>
          <strong className="ink">You pay</strong>
        </dt>
        <dd>
          <strong className="ink">
            {isAmount(budget)
              ? `${usdc(shareOf(budget, 10_000 + feeBps))} USDC`
              : `${100 + feeBps / 100} % of it`}
          </strong>
        </dd>
      </dl>
    </div>
    <footer className="stack-2">
      <p>Held in escrow until you approve the work. It is open for 30 days.</p>
      <p>
        Public: title, brief, files, budget, terms and the address of your wallet. The claims are read by you
        alone.
      </p>
    </footer>
  </aside>
)
