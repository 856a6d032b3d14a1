import type { BrowserWallet } from '@market/sdk/wallets'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouteContext, useRouter, useSearch } from '@tanstack/react-router'
import { configQuery } from '../market.ts'
import { Head } from '../parts/head.tsx'
import { Problem } from '../parts/problem.tsx'
import { forgetPrivate, isSignedIn, meQuery, nameOf, ownPath, useMe } from '../session/me.ts'
import { useRun } from '../session/use-run.ts'
import { signerOf, useWallets } from '../session/wallet.ts'

/** Sign in at the identity provider, which works without script, or with a wallet of this browser. */
export function SignInPage() {
  const { return_to } = useSearch({ from: '/sign-in' })
  const path = ownPath(return_to)
  const context = useRouteContext({ from: '/sign-in' })
  const { data: config } = useQuery(configQuery(context))
  const me = useMe()
  const hasProvider = config?.identity_provider.client_ids.web != null
  return (
    <main id="content" className="wrap narrow stack-8">
      <Head title="Sign in" description="Sign in to order and to see your orders." />
      <div className="stack-2">
        <h1 className="title">Sign in</h1>
        <p className="muted">To order, and to see what you have ordered.</p>
      </div>
      {isSignedIn(me) && (
        <p className="banner">
          <span>
            You are signed in as <strong className="any-word">{nameOf(me)}</strong> <a href={path}>Go on</a>
          </span>
        </p>
      )}
      {hasProvider && (
        <section className="card pad stack">
          <h2>With an account</h2>
          <p className="muted">For 30 days, and without a wallet until you pay.</p>
          <a
            className="btn primary lg block"
            href={`/auth/login?${new URLSearchParams({ return_to: path })}`}
          >
            Sign in with your account
          </a>
        </section>
      )}
      <section className="card pad stack">
        <h2>With a wallet</h2>
        <p className="muted">
          One signature, no transaction. For 12 hours this browser can read; each change asks the wallet
          again.
        </p>
        <noscript>
          <p className="banner">Signing in with a wallet needs JavaScript.</p>
        </noscript>
        <Wallets path={path} />
      </section>
    </main>
  )
}

function Wallets({ path }: { readonly path: string }) {
  const context = useRouteContext({ from: '/sign-in' })
  const queryClient = useQueryClient()
  const router = useRouter()
  const wallets = useWallets()
  const { isRunning, error, run } = useRun()
  const signIn = (wallet: BrowserWallet) =>
    run(async () => {
      await context.market.startSession({}, { cosigner: await signerOf(wallet) })
      forgetPrivate(queryClient)
      await queryClient.fetchQuery({ ...meQuery(context), staleTime: 0 })
      router.history.push(path)
    })
  if (wallets === undefined) return null
  return (
    <>
      {wallets.length === 0 && (
        <p className="muted">
          No wallet was found in this browser. Open this page in the browser of your wallet.
        </p>
      )}
      {wallets.map((wallet) => (
        <button
          className="btn lg block"
          type="button"
          key={wallet.id}
          disabled={isRunning}
          onClick={() => void signIn(wallet)}
        >
          {wallet.icon !== '' && <img src={wallet.icon} alt="" width={20} height={20} />}
          <span className="clip">{wallet.name}</span>
          <span className="muted">{wallet.chain === 'base' ? 'EVM' : 'Solana'}</span>
        </button>
      ))}
      <Problem error={error} />
    </>
  )
}
