import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { configQuery } from '../market.ts'
import { FileIcon, OutIcon } from '../parts/icons.tsx'
import type { OrderPage } from './order-page.ts'

type Deliverable = OrderPage['deliverables'][number]

/** Delivered files: our own with a preview, those of other hosts as links that name the host. */
export function Files({ deliverables }: { readonly deliverables: readonly Deliverable[] }) {
  const context = useRouteContext({ from: '__root__' })
  const { data: config } = useQuery(configQuery(context))
  const filesOrigin = config?.files_url == null ? undefined : new URL(config.files_url).origin
  const hashed = deliverables.filter(({ sha256 }) => sha256 !== null)
  const texts = deliverables.filter(({ content }) => content !== null)
  const linked = deliverables.filter(({ url }) => url !== null)
  return (
    <>
      {linked.length > 0 && (
        <ul className="files">
          {linked.map((one) => (
            <li key={`${one.url} ${one.title}`}>
              <FileLink deliverable={one} filesOrigin={filesOrigin} />
            </li>
          ))}
        </ul>
      )}
      {texts.map(({ title, type, content }) => (
        <div className="stack-2" key={`${title} ${content?.slice(0, 80)}`}>
          {title !== null && <strong className="any-word">{title}</strong>}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls long texts. */}
          <pre className={`code delivered-text ${type}`} tabIndex={0}>
            {content}
          </pre>
        </div>
      ))}
      {hashed.length > 0 && (
        <details className="sm">
          <summary className="muted">Check the files: SHA-256 of each</summary>
          <dl className="kv left mt2">
            {hashed.map((one) => (
              <div key={`${one.sha256} ${one.url}`}>
                <dt className="any-word">{nameOf(one)}</dt>
                <dd className="mono xs">{one.sha256}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  )
}

interface FileLinkProps {
  readonly deliverable: Deliverable
  readonly filesOrigin: string | undefined
}

function FileLink({ deliverable, filesOrigin }: FileLinkProps) {
  const url = addressOf(deliverable)
  const name = nameOf(deliverable)
  // Nothing of another host is loaded: it would see who reads the order.
  const isOurs = url !== undefined && url.origin === filesOrigin
  const preview = isOurs ? <Preview deliverable={deliverable} url={url} name={name} /> : <FileIcon />
  const kind = isOurs ? KINDS[deliverable.type] : (url?.host ?? 'not a link')
  const label = (
    <span className="name">
      <strong className="clip">{name}</strong>
      <span className="muted clip" title={kind}>
        {kind} {!isOurs && <OutIcon />}
      </span>
    </span>
  )
  if (url === undefined)
    return (
      <span className="file">
        <span className="thumb">{preview}</span>
        {label}
      </span>
    )
  // A player is not part of a link.
  const isVideo = isOurs && deliverable.type === 'video'
  return (
    <div className="file">
      {isVideo && <span className="thumb">{preview}</span>}
      <a className="ink" href={url.href} target="_blank" rel="noopener noreferrer">
        {!isVideo && <span className="thumb">{preview}</span>}
        {label}
      </a>
    </div>
  )
}

interface PreviewProps {
  readonly deliverable: Deliverable
  readonly url: URL
  readonly name: string
}

function Preview({ deliverable: { type, media_type }, url, name }: PreviewProps) {
  if (type === 'image' && media_type !== 'image/svg+xml')
    return <img className="art" src={url.href} alt={name} loading="lazy" decoding="async" />
  if (type === 'video')
    // biome-ignore lint/a11y/useMediaCaption: agents deliver no captions.
    return <video className="art" src={url.href} controls preload="metadata" aria-label={name} />
  return <FileIcon />
}

const KINDS: Readonly<Record<Deliverable['type'], string>> = {
  image: 'Image',
  video: 'Video',
  link: 'Link',
  document: 'Document',
  code: 'Code',
  text: 'Text',
}

const addressOf = ({ url }: Deliverable): URL | undefined =>
  url !== null && URL.canParse(url) && /^https?:/.test(url) ? new URL(url) : undefined

/** Its title, or the last part of its address. */
function nameOf(deliverable: Deliverable): string {
  const last = addressOf(deliverable)?.pathname.split('/').at(-1)
  return deliverable.title ?? (last ? decoded(last) : KINDS[deliverable.type])
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
