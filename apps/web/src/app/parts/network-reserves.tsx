import type { Operations } from '@market/sdk'
import { Fragment } from 'react'
import { counted, usdc } from '../format.ts'
import { micros, ratioOf, sumOf } from '../money.ts'
import { Network, OnChain } from './networks.tsx'
import { Ago } from './now.tsx'

type Reserves = Operations['getSolvency']['data'][number]

const WIDTH = 340

/** What is held and owed on one network. */
export function NetworkReserves({ reserves }: { readonly reserves: Reserves }) {
  const { network, cold, agent_wallets: wallets } = reserves
  const held = sumOf([reserves.assets_usd, reserves.venues_usd])
  return (
    <section className="card">
      <header>
        <h2>
          <Network name={network} />
        </h2>
        <span className="push">
          <span className={reserves.solvent ? 'badge good' : 'badge bad'}>
            <i className="dot" />
            {reserves.solvent ? 'Holds what it owes' : `${usdc(reserves.shortfall_usd)} missing`}
          </span>
        </span>
      </header>
      <div className="pad stack">
        <div className="between">
          <span>
            <span className="muted sm">Held</span>
            <br />
            <span className="figure sm-fig">{usdc(held)}</span>
          </span>
          <span className="right">
            <span className="muted sm">Owed</span>
            <br />
            <span className="figure sm-fig">{usdc(reserves.liabilities_usd)}</span>
          </span>
        </div>
        <Bar held={held} owed={reserves.liabilities_usd} />
        <dl className="kv">
          <dt>Ratio</dt>
          <dd>
            <strong>{ratioOf(held, reserves.liabilities_usd) ?? 'nothing is owed'}</strong>
          </dd>
          <dt>Treasury</dt>
          <dd>
            <OnChain network={network} kind="address" text={reserves.treasury} />
          </dd>
          <dt>Cold address</dt>
          <dd>{cold === null ? 'none' : <OnChain network={network} kind="address" text={cold.address} />}</dd>
          {wallets !== null && (
            <>
              <dt>Agents’ wallets</dt>
              <dd>
                {counted(wallets.count, 'wallet')}, {usdc(wallets.total_usd)}
              </dd>
            </>
          )}
          {micros(reserves.venues_usd) > 0n && (
            <>
              <dt>On its way to Earn</dt>
              <dd>{usdc(reserves.venues_usd)}</dd>
            </>
          )}
          {reserves.earn.map(({ key, vault, value_usd }) => (
            <Fragment key={key}>
              <dt>Earn, {key}</dt>
              <dd>
                {value_usd === null ? 'not read yet' : `worth ${usdc(value_usd)}`} in the vault{' '}
                <OnChain network={network} kind="address" text={vault} />
              </dd>
            </Fragment>
          ))}
          <dt>Fees of the platform</dt>
          <dd>{usdc(reserves.platform_usd)}</dd>
          <dt>Being paid out</dt>
          <dd>
            {reserves.in_flight_count === 0
              ? 'none'
              : `${counted(reserves.in_flight_count, 'transfer')}, ${usdc(reserves.in_flight_usd)}`}
          </dd>
          <dt>Debts in the proof</dt>
          <dd>{reserves.proof === null ? 'none yet' : reserves.proof.leaves.toLocaleString('en')}</dd>
          <dt>Compared</dt>
          <dd>
            <Ago at={reserves.checked_at} />
          </dd>
        </dl>
      </div>
    </section>
  )
}

/** The part of what is held that is owed; red where more is owed. */
function Bar({ held, owed }: { readonly held: string; readonly owed: string }) {
  const [all, due] = [Number(micros(held)), Number(micros(owed))]
  const most = Math.max(all, due)
  return (
    <svg className="chart" viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
      <rect
        className={due > all ? 'f-bad' : most === 0 ? 'f-line' : 'f-good'}
        width={WIDTH}
        height="10"
        rx="5"
      />
      {most > 0 && (
        <rect className="f-accent" width={(Math.min(all, due) / most) * WIDTH} height="10" rx="5" />
      )}
    </svg>
  )
}
