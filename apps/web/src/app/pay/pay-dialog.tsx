import type { BrowserWallet, PaymentOptions } from '@market/sdk/wallets'
import { useState } from 'react'
import { usdc } from '../format.ts'
import type { NetworkName } from '../names.ts'
import type { OrderPage, PaymentOption } from '../order/order-page.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Network } from '../parts/networks.tsx'
import { useWallets } from '../session/wallet.ts'
import { Elsewhere } from './elsewhere.tsx'
import type { SentPayment } from './sent-payment.ts'
import { WalletFooter } from './wallet-footer.tsx'

interface Paid {
  readonly title: string
  /** What is paid, and to whom. */
  readonly text: string
  /** The ways to pay: one per open network. */
  readonly options: readonly PaymentOption[]
}

export const paidOf = (order: OrderPage['order'], agent: Pick<OrderPage['agent'], 'name'>): Paid => ({
  title: `Pay ${usdc(order.price_usd ?? '0')} USDC into escrow`,
  text: `${order.service_title} by ${agent.name}`,
  options: order.payment,
})

interface PayDialogProps extends Paid {
  /** Pays by a wallet of this browser. */
  readonly onPay: (wallet: BrowserWallet, option: PaymentOption) => Promise<unknown>
  /** Names a transfer that was sent from elsewhere. */
  readonly onSent: (sent: SentPayment) => Promise<unknown>
  /** The network of an option, as wallets need it. */
  readonly optionsOf: (option: PaymentOption) => PaymentOptions | undefined
  /** Reads the order again. */
  readonly onReload: () => Promise<unknown>
  readonly onClose: () => void
}

const ELSEWHERE = 'elsewhere'

/** Which wallet pays, on which network, and how much. */
export function PayDialog({
  title,
  text,
  options,
  onPay,
  onSent,
  optionsOf,
  onReload,
  onClose,
}: PayDialogProps) {
  const wallets = useWallets() ?? []
  const [walletId, setWalletId] = useState<string>()
  const [network, setNetwork] = useState<NetworkName>()
  const wallet =
    walletId === ELSEWHERE ? undefined : (wallets.find(({ id }) => id === walletId) ?? wallets[0])
  const possible = options.filter((one) => wallet === undefined || isOf(wallet, one))
  const option = possible.find((one) => one.network === network) ?? possible[0]
  return (
    <Dialog title={title} text={text} onClose={onClose}>
      <div className="body">
        <fieldset className="stack-2">
          <legend className="legend-label">Wallet</legend>
          <div className="tiles">
            {wallets.map((one) => (
              <label className="option tile" key={one.id}>
                <input
                  type="radio"
                  name="wallet"
                  checked={wallet === one}
                  onChange={() => setWalletId(one.id)}
                />
                {one.icon === '' ? <span /> : <img src={one.icon} alt="" width={22} height={22} />}
                <span className="clip">
                  <strong>{one.name}</strong>
                  <br />
                  <span className="muted xs">{one.chain === 'base' ? 'EVM' : 'Solana'}</span>
                </span>
              </label>
            ))}
            <label className="option tile">
              <input
                type="radio"
                name="wallet"
                checked={wallet === undefined}
                onChange={() => setWalletId(ELSEWHERE)}
              />
              <span />
              <span className="clip">
                <strong>Another device</strong>
                <br />
                <span className="muted xs">Address and QR code</span>
              </span>
            </label>
          </div>
        </fieldset>
        <fieldset className="stack-2">
          <legend className="legend-label">Network</legend>
          {options.map((one) => {
            const isPossible = possible.includes(one)
            return (
              <label className="option" key={one.network} aria-disabled={isPossible ? undefined : true}>
                <input
                  type="radio"
                  name="network"
                  checked={option === one}
                  disabled={!isPossible}
                  onChange={() => setNetwork(one.network)}
                />
                <span>
                  <Network name={one.network} />
                  {!isPossible && (
                    <>
                      <br />
                      <span className="muted sm">{wallet?.name} does not pay here</span>
                    </>
                  )}
                </span>
                <span className="usd">
                  {usdc(one.amount_usd)} <small>USDC</small>
                </span>
              </label>
            )
          })}
          {options.length === 0 && (
            <p className="banner warn">The agent can be paid on no open network now. Try again later.</p>
          )}
        </fieldset>
        {wallet === undefined && option !== undefined && (
          <Elsewhere key={option.network} option={option} onSent={onSent} onDone={onClose} />
        )}
      </div>
      {wallet !== undefined && option !== undefined && (
        <WalletFooter
          key={`${wallet.id} ${option.network} ${option.amount_usd}`}
          wallet={wallet}
          option={option}
          options={optionsOf(option)}
          onPay={onPay}
          onReload={onReload}
          onClose={onClose}
        />
      )}
    </Dialog>
  )
}

const isOf = ({ chain }: BrowserWallet, { network }: PaymentOption): boolean =>
  (chain === 'solana') === (network === 'solana-mainnet')
