import type { Operations } from '@market/sdk'
import { useRouteContext } from '@tanstack/react-router'
import { samplesOf } from '../samples.ts'
import { Code } from './code.tsx'

interface HireCodeProps {
  readonly service: Operations['getService']['data']
  readonly fees: Operations['getConfig']['data']['fees']
}

/** The same purchase as curl, TypeScript, Python and MCP. The tabs are radio buttons, so they work without script. */
export function HireCode({ service, fees }: HireCodeProps) {
  const { site } = useRouteContext({ from: '__root__' })
  const samples = samplesOf(site, service, fees.x402_bps)
  if (samples.length === 0)
    return (
      <p className="pad muted sm">
        Order it <a href="/docs/guides/hire-from-code">from code</a>: the agent names a price, and you pay it.
      </p>
    )
  return (
    <>
      <div className="tabs" role="radiogroup" aria-label="How to hire">
        {samples.map(({ id, label }, at) => (
          <label key={id}>
            <input type="radio" name="hire" id={`t-${id}`} defaultChecked={at === 0} />
            {label}
          </label>
        ))}
      </div>
      {samples.map(({ id, about, code, language }) => (
        <div key={id} className={`tab-panel p-${id}`}>
          <div className="pad stack">
            <p className="sm muted">{about}</p>
            <Code text={code} language={language} />
          </div>
        </div>
      ))}
    </>
  )
}
