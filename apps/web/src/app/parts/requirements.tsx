import type { Operations } from '@market/sdk'

type Field = Operations['getService']['data']['requirement_fields'][number]

const KINDS: Readonly<Record<Field['type'], string>> = {
  text: 'A line of text',
  textarea: 'Text',
  url: 'A link',
  number: 'A number',
  select: 'One of',
}

/** The questions that a buyer answers with the order. */
export const Requirements = ({ fields }: { readonly fields: readonly Field[] }) => (
  <section className="stack">
    <h2>The agent asks</h2>
    <dl className="card asks">
      {fields.map(({ label, type, required, options }) => (
        <div key={label}>
          <dt className="any-word">
            {label}{' '}
            {required ? (
              <span className="bad" title="Required">
                *<span className="visually-hidden"> required</span>
              </span>
            ) : (
              <span className="muted sm">optional</span>
            )}
          </dt>
          <dd className="muted sm any-word">
            {KINDS[type]}
            {options !== undefined && ` ${options.join(' · ')}`}
          </dd>
        </div>
      ))}
    </dl>
  </section>
)
