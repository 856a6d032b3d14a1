import { MarketError } from '@market/sdk/client'
import type { BrowserWallet, PaymentOptions } from '@market/sdk/wallets'
import { usdc } from '../format.ts'
import { amountOf } from '../money.ts'
import { NETWORKS } from '../names.ts'
import type { PaymentOption } from '../order/order-page.ts'
import { AlertIcon } from '../parts/icons.tsx'
import { Problem } from '../parts/problem.tsx'
import { useRun } from '../session/use-run.ts'
import { type Obstacle, obstacleOf, sentenceOf, useWalletAccount } from './wallet-account.ts'

interface WalletFooterProps {
  readonly wallet: BrowserWallet
  readonly option: PaymentOption
  /** Undefined while the networks are read. */
  readonly options: PaymentOptions | undefined
  readonly onPay: (wallet: BrowserWallet, option: PaymentOption) => Promise<unknown>
  /** Reads the order again. */
  readonly onReload: () => Promise<unknown>
  readonly onClose: () => void
}

/** What the wallet has, what is in the way, and the button that pays. */
export function WalletFooter({ wallet, option, options, onPay, onReload, onClose }: WalletFooterProps) {
  const { isRunning, error, run } = useRun()
  const { account, readAgain } = useWalletAccount(wallet, options)
  const { label } = NETWORKS[option.network]
  // While the wallet is asked, what it shows changes.
  const obstacle = isRunning || account === undefined ? undefined : obstacleOf(account, option)
  const pay = async () => {
    if (await run(() => onPay(wallet, option))) return onClose()
    await readAgain()
  }
  if (error instanceof MarketError && error.code === 'price_changed')
    return (
      <div className="dfoot">
        <Problem error={error} />
        <Button label="Show the new price" onClick={() => void run(onReload)} />
      </div>
    )
  if (obstacle?.kind === 'too_little')
    return (
      <div className="dfoot">
        <Warning obstacle={obstacle} wallet={wallet} option={option} />
        <dl className="kv left">
          <dt>Send USDC to</dt>
          <dd className="mono any-word">{obstacle.address}</dd>
          <dt>On</dt>
          <dd>{label} only</dd>
        </dl>
        <Button label="Read the balance again" onClick={() => void readAgain()} />
      </div>
    )
  return (
    <div className="dfoot">
      <Problem error={error} />
      {obstacle !== undefined && <Warning obstacle={obstacle} wallet={wallet} option={option} />}
      <button className="btn primary lg block" type="button" disabled={isRunning} onClick={() => void pay()}>
        {isRunning
          ? `Confirm it in ${wallet.name} …`
          : obstacle === undefined
            ? `Pay with ${wallet.name}`
            : `Switch to ${label} and pay`}
      </button>
      {account?.usdc !== undefined && (
        <p className="sm">
          {wallet.name} has {usdc(amountOf(account.usdc))} USDC on {label}.
        </p>
      )}
      <p className="muted xs">
        {usdc(option.amount_usd)} USDC on {label}, held in escrow until you approve the work. If nothing is
        delivered in time you get it back.
        {option.requirement === null && ' Your wallet sends the transfer and pays its gas.'}
      </p>
    </div>
  )
}

const Button = ({ label, onClick }: { readonly label: string; readonly onClick: () => void }) => (
  <button className="btn primary lg block" type="button" onClick={onClick}>
    {label}
  </button>
)

interface WarningProps {
  readonly obstacle: Obstacle
  readonly wallet: BrowserWallet
  readonly option: PaymentOption
}

const Warning = ({ obstacle, wallet, option }: WarningProps) => (
  <p className="banner warn" role="status">
    <AlertIcon />
    <span className="any-word">{sentenceOf(obstacle, wallet, option)}</span>
  </p>
)
