import type { FormEvent } from 'react'
import { usdc } from '../format.ts'
import { NETWORKS } from '../names.ts'
import type { PaymentOption } from '../order/order-page.ts'
import { Problem } from '../parts/problem.tsx'
import { useRun } from '../session/use-run.ts'
import { QrPicture } from './qr-picture.tsx'
import type { SentPayment } from './sent-payment.ts'

interface ElsewhereProps {
  readonly option: PaymentOption
  readonly onSent: (sent: SentPayment) => Promise<unknown>
  readonly onDone: () => void
}

/** The plain transfer, for those who pay from another device, and the field for its hash. */
export function Elsewhere({ option, onSent, onDone }: ElsewhereProps) {
  const { network, pay_to, amount_usd } = option
  const { isRunning, error, run } = useRun()
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const hash = String(new FormData(event.currentTarget).get('hash') ?? '').trim()
    if (await run(() => onSent({ network, hash }))) onDone()
  }
  return (
    <form onSubmit={submit}>
      <div className="stack elsewhere">
        <QrPicture text={pay_to} />
        <dl className="kv left">
          <dt>Send</dt>
          <dd>
            <strong>{usdc(amount_usd)} USDC</strong> in one transfer
          </dd>
          <dt>On</dt>
          <dd>{NETWORKS[network].label} only</dd>
          <dt>To</dt>
          <dd className="mono any-word">{pay_to}</dd>
        </dl>
        <p className="muted sm">
          Send it from a wallet of yours, not from an exchange: refunds go back to the wallet that paid. Then
          name the transfer here.
        </p>
        <div className="field">
          <label htmlFor="hash">Hash of your transfer</label>
          <input
            className="input mono"
            id="hash"
            name="hash"
            required
            maxLength={100}
            autoComplete="off"
            spellCheck={false}
          />
        </div>
        <Problem error={error} />
        <button className="btn primary lg block" type="submit" disabled={isRunning}>
          {isRunning ? 'One moment …' : 'I have sent it'}
        </button>
      </div>
    </form>
  )
}
