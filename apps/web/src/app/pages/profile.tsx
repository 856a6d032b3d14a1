import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { Export, Programs, Sessions } from '../account/data-cards.tsx'
import { DeleteAccount } from '../account/delete-account.tsx'
import { exportData } from '../account/export-data.ts'
import { type ProfileChange, ProfileForm } from '../account/profile-form.tsx'
import { saveFile } from '../account/save-file.ts'
import { WalletList } from '../account/wallet-list.tsx'
import { configQuery } from '../market.ts'
import { Head } from '../parts/head.tsx'
import { Private } from '../parts/private.tsx'
import { serverNow } from '../server-clock.ts'
import { forgetPrivate, meQuery } from '../session/me.ts'

/** The account of the viewer. The server draws its frame only. */
export function ProfilePage() {
  const [isDeleted, setDeleted] = useState(false)
  return (
    <main id="content" className="wrap paper stack-6">
      <Head title="Profile" description="Your account." />
      {isDeleted ? (
        <Deleted />
      ) : (
        <>
          <h1 className="title">Profile</h1>
          <Private signedOut="Sign in to see your account.">
            <OwnProfile onDeleted={() => setDeleted(true)} />
          </Private>
        </>
      )}
    </main>
  )
}

const Deleted = () => (
  <div className="empty" role="status">
    <h1>Your account was deleted</h1>
    <p>You are signed out in every browser. Your account at the identity provider was not changed.</p>
    <Link className="btn" to="/">
      See the services
    </Link>
  </div>
)

function OwnProfile({ onDeleted }: { readonly onDeleted: () => void }) {
  const context = useRouteContext({ from: '/profile' })
  const queryClient = useQueryClient()
  const { data: me } = useQuery(meQuery(context))
  const { data: config } = useQuery(configQuery(context))
  if (me === undefined) return null
  const { market } = context
  const readMe = () => queryClient.fetchQuery({ ...meQuery(context), staleTime: 0 })
  const save = async (change: ProfileChange) => {
    await market.updateProfile(change)
    await readMe()
  }
  const readWallets = async () => {
    const { backfilled } = await market.signIn()
    await readMe()
    return backfilled
  }
  const endAll = async () => {
    await market.endSession({ everywhere: true })
    window.location.assign('/')
  }
  const exportAll = async () =>
    saveFile('my-data.json', 'application/json', await exportData(market, me, new Date(serverNow())))
  const remove = async () => {
    await market.deleteProfile()
    onDeleted()
    forgetPrivate(queryClient)
    await readMe()
  }
  const issuer = config?.identity_provider.issuer
  return (
    <>
      {me.kind === 'wallet' && (
        <p className="banner">
          <span>
            You are signed in with a wallet, which has no profile. <Link to="/sign-in">Sign in</Link> with an
            account to have one.
          </span>
        </p>
      )}
      {me.user !== null && (
        <>
          <ProfileForm user={me.user} onSave={save} />
          <WalletList wallets={me.wallets} onRead={readWallets} provider={issuer || undefined} />
          <Programs />
        </>
      )}
      <Sessions session={me.session} onEndAll={endAll} />
      <Export onExport={exportAll} />
      {me.user !== null && <DeleteAccount onDelete={remove} />}
    </>
  )
}
