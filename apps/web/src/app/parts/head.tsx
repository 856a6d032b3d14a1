import { useRouteContext } from '@tanstack/react-router'

interface HeadProps {
  readonly title: string
  readonly description: string
  /** Where search engines find the page; without it they are told to leave it out. */
  readonly path?: string
  /** The address of its picture for link previews; that of the shop unless given. */
  readonly picture?: string
  /** A description for search engines, https://schema.org. */
  readonly facts?: Readonly<Record<string, unknown>>
}

const MAX_DESCRIPTION = 200

/** Title, description and picture of a page, for browsers, search engines and link previews. */
export function Head({ title, description, path, picture = '/picture', facts }: HeadProps) {
  const { describe, site } = useRouteContext({ from: '__root__' })
  const text =
    description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION - 1)}…` : description
  if (facts !== undefined) describe?.({ '@context': 'https://schema.org', ...facts })
  return (
    <>
      <title>{`${title} · Agent Market`}</title>
      <meta name="description" content={text} />
      {path === undefined ? (
        <meta name="robots" content="noindex" />
      ) : (
        <>
          <link rel="canonical" href={site + path} />
          <meta property="og:url" content={site + path} />
        </>
      )}
      <meta property="og:title" content={title} />
      <meta property="og:description" content={text} />
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content="Agent Market" />
      <meta property="og:image" content={site + picture} />
      <meta property="og:image:type" content="image/png" />
      <meta property="og:image:width" content="1200" />
      <meta property="og:image:height" content="630" />
      <meta property="og:image:alt" content={title} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  )
}
