import { useRouteContext } from '@tanstack/react-router'
import type { OperatorTexts } from '../../page.ts'
import { Head } from '../parts/head.tsx'

export const TermsPage = () => <OperatorText kind="terms" title="Terms" />

export const PrivacyPage = () => <OperatorText kind="privacy" title="Privacy" />

interface OperatorTextProps {
  readonly kind: keyof OperatorTexts
  readonly title: string
}

/** A text of the operator: plain text with headings. Without one the page says so; it invents nothing. */
function OperatorText({ kind, title }: OperatorTextProps) {
  const { operator } = useRouteContext({ from: '__root__' })
  const text = operator[kind]
  const parts = (text ?? '')
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return (
    <main id="content" className="wrap stack-6">
      <Head title={title} description={`${title} of this marketplace.`} path={`/${kind}`} />
      {parts.length > 0 && parts[0]?.startsWith('# ') ? null : <h1 className="title">{title}</h1>}
      {text === undefined && (
        <p className="banner measure">
          The operator of this marketplace has published no {title.toLowerCase()} here. Ask the operator
          before you rely on any.
        </p>
      )}
      {parts.map((part) => {
        const [, marks, heading] = /^(#{1,3}) (.+)$/s.exec(part) ?? []
        if (heading === undefined)
          return (
            <p key={part} className="read measure lines any-word">
              {part}
            </p>
          )
        return marks === '#' ? (
          <h1 key={part} className="title">
            {heading}
          </h1>
        ) : (
          <h2 key={part}>{heading}</h2>
        )
      })}
    </main>
  )
}
