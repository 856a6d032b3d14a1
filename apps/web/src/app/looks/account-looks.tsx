import { MarketError } from '@market/sdk/client'
import { Export, Programs, Sessions } from '../account/data-cards.tsx'
import { DeleteAccount, NextStep } from '../account/delete-account.tsx'
import { NotificationList } from '../account/notification-list.tsx'
import { ProfileForm } from '../account/profile-form.tsx'
import { SpendingView } from '../account/spending-view.tsx'
import { WalletList } from '../account/wallet-list.tsx'
import { CheckedReceiptView, NoReceipt } from '../pages/receipt.tsx'
import { Problem } from '../parts/problem.tsx'
import { UnreadLink } from '../session/unread-link.tsx'
import { LONG_USER, NOTIFICATIONS, RECEIPT, RECEIPTS, SIGNED_IN } from './account-samples.ts'
import { LISTED_ORDERS } from './order-samples.ts'
import { LONG } from './samples.ts'

/** Notifications, profile, spending and receipts in every state. */

const nothing = () => undefined
const done = async () => 0

const refusal = (code: string) =>
  new MarketError(`The API says why: ${code}.`, { status: code === 'login_too_old' ? 401 : 409, code })

const REFUSALS = [
  ...['login_too_old', 'account_has_open_orders', 'account_has_open_bounties'],
  ...['account_has_open_payouts', 'account_has_money_in_earn'],
].map(refusal)

const NO_RECEIPTS = ['order_not_paid', 'payment_not_final', 'payment_contested'].map(refusal)

export const AccountLooks = () => (
  <>
    <div className="line-up">
      {[0, 3, 120].map((count) => (
        <UnreadLink key={count} count={count} />
      ))}
    </div>
    <NotificationList notifications={NOTIFICATIONS} onOpen={nothing} />
    <NotificationList notifications={[]} onOpen={nothing} />
    {SIGNED_IN.user !== null && <ProfileForm user={SIGNED_IN.user} onSave={done} />}
    <ProfileForm user={LONG_USER} onSave={done} />
    <WalletList wallets={SIGNED_IN.wallets} onRead={done} provider="https://login.example" />
    <WalletList wallets={[]} onRead={done} provider={undefined} />
    <Programs />
    <Sessions session={SIGNED_IN.session} onEndAll={done} />
    <Export onExport={done} />
    <DeleteAccount onDelete={done} />
    {REFUSALS.map((error) => (
      <div className="stack-2" key={error.code}>
        <Problem error={error} />
        <NextStep error={error} />
      </div>
    ))}
    <SpendingView orders={LISTED_ORDERS} isAll={false} />
    <SpendingView orders={[]} isAll />
  </>
)

const LONG_KEY = { kind: 'valid', receipt: RECEIPT, keyId: LONG } as const

export const ReceiptLooks = () => (
  <>
    {RECEIPTS.map(([state, receipt]) => (
      <div className="stack" key={state}>
        <code>{state}</code>
        <CheckedReceiptView
          order="ord_1"
          jws=""
          receipt={receipt}
          check={{ kind: 'valid', receipt, keyId: 'rcpt-1' }}
        />
      </div>
    ))}
    <CheckedReceiptView order={`ord_${'x'.repeat(100)}`} jws="" receipt={RECEIPT} check={LONG_KEY} />
    <CheckedReceiptView
      order="ord_1"
      jws=""
      receipt={RECEIPT}
      check={{ kind: 'unchecked', problem: 'The browser has no Ed25519.' }}
    />
    <CheckedReceiptView
      order="ord_1"
      jws=""
      receipt={RECEIPT}
      check={{ kind: 'invalid', problem: 'The signature is not of this text: it was changed.' }}
    />
    {NO_RECEIPTS.map((error) => (
      <NoReceipt key={error.code} error={error} order="ord_1" onRetry={nothing} />
    ))}
  </>
)
