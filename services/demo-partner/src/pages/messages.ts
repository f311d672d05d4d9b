// Every text of the pages, in each language. A further language is one more table here.

const en = {
  locale: 'en-GB',
  product: 'Paddock Planner',
  home: 'Home',
  events: 'Events',
  welcome: 'Your course designs, beside your show calendar',
  intro:
    'Connect your course-design account to see your events and the designs that belong to them. We only read: nothing is changed or uploaded.',
  connect: 'Connect',
  connectAgain: 'Connect again',
  connectedAs: 'Connected as',
  unnamed: 'your account',
  showEvents: 'Show my events',
  refreshNow: 'Refresh now',
  refreshedAt: 'Refreshed at',
  neverRefreshed: 'The connection is fresh and has not been renewed yet.',
  disconnect: 'Disconnect',
  disconnectAbout: 'Disconnecting deletes the tokens that we keep for you.',
  notReachable:
    'The course-design service cannot be reached just now. Connecting will work again once it answers.',
  eventsTitle: 'Your events',
  noEvents: 'No events yet',
  noEventsAbout: 'Events appear here once your designs belong to one.',
  noDesigns: 'No designs in this event',
  designsOne: '1 design',
  designsMany: '{count} designs',
  noDate: 'Date not set',
  changed: 'Last change',
  author: 'by',
  untitled: 'Untitled design',
  unnamedEvent: 'Unnamed event',
  backToEvents: 'All events',
  truncated: 'This event has {count} designs. At most 500 are shown.',
  summaryOnly: 'These are summaries, not printable or editable course designs.',
  refusedTitle: 'You declined the connection',
  refusedText: 'You chose not to share your data. Nothing was connected and nothing is stored.',
  failedTitle: 'The connection failed',
  failedText:
    'We could not complete the connection. Nothing was stored. Please start again; a link can be used only once and for 15 minutes.',
  firstTitle: 'Connect first',
  firstText:
    'Nobody is connected in this browser. Connect your course-design account, and your events appear here.',
  reconnectTitle: 'Please connect again',
  reconnectText:
    'Your connection has ended. We have deleted what was left of it; connecting again brings everything back.',
  unavailableTitle: 'The service does not answer just now',
  unavailableText: 'Please try again in a moment. A connection that you already have is kept.',
  notFoundTitle: 'There is nothing here',
  notFoundText: 'This page or event does not exist, or it is not yours.',
  errorTitle: 'Something went wrong on our side',
  errorText: 'Please try again. If it happens again, tell us the reference below.',
  tryAgain: 'Try again',
  reference: 'Reference',
  disconnectedTitle: 'You are disconnected',
  disconnectedText:
    'We have deleted your tokens. An access token that was already given out stays valid until its 15 minutes end; we no longer hold it.',
  withdrawText:
    'To withdraw your consent as well, write to the operator of the course-design service: consent is withdrawn there by hand.',
  footer: 'Demo partner. Reads with your permission, changes nothing.',
  skip: 'Skip to content',
};

export type Messages = typeof en;

const de: Messages = {
  locale: 'de-DE',
  product: 'Paddock Planner',
  home: 'Start',
  events: 'Veranstaltungen',
  welcome: 'Ihre Parcourspläne neben Ihrem Turnierkalender',
  intro:
    'Verbinden Sie Ihr Parcoursplan-Konto, um Ihre Veranstaltungen und die Entwürfe dazu zu sehen. Wir lesen nur: Nichts wird geändert oder hochgeladen.',
  connect: 'Verbinden',
  connectAgain: 'Neu verbinden',
  connectedAs: 'Verbunden als',
  unnamed: 'Ihr Konto',
  showEvents: 'Meine Veranstaltungen',
  refreshNow: 'Jetzt erneuern',
  refreshedAt: 'Erneuert um',
  neverRefreshed: 'Die Verbindung ist frisch und wurde noch nicht erneuert.',
  disconnect: 'Trennen',
  disconnectAbout: 'Beim Trennen löschen wir die Tokens, die wir für Sie aufbewahren.',
  notReachable:
    'Der Parcoursplan-Dienst ist gerade nicht erreichbar. Verbinden geht wieder, sobald er antwortet.',
  eventsTitle: 'Ihre Veranstaltungen',
  noEvents: 'Noch keine Veranstaltungen',
  noEventsAbout: 'Veranstaltungen erscheinen hier, sobald Ihre Entwürfe zu einer gehören.',
  noDesigns: 'Keine Entwürfe in dieser Veranstaltung',
  designsOne: '1 Entwurf',
  designsMany: '{count} Entwürfe',
  noDate: 'Kein Datum',
  changed: 'Letzte Änderung',
  author: 'von',
  untitled: 'Entwurf ohne Titel',
  unnamedEvent: 'Veranstaltung ohne Namen',
  backToEvents: 'Alle Veranstaltungen',
  truncated: 'Diese Veranstaltung hat {count} Entwürfe. Höchstens 500 werden gezeigt.',
  summaryOnly: 'Dies sind Zusammenfassungen, keine druckbaren oder bearbeitbaren Parcourspläne.',
  refusedTitle: 'Sie haben die Verbindung abgelehnt',
  refusedText: 'Sie wollten Ihre Daten nicht teilen. Nichts wurde verbunden, nichts ist gespeichert.',
  failedTitle: 'Die Verbindung ist fehlgeschlagen',
  failedText:
    'Wir konnten die Verbindung nicht herstellen. Nichts wurde gespeichert. Bitte beginnen Sie neu; ein Link gilt nur einmal und 15 Minuten lang.',
  firstTitle: 'Verbinden Sie sich zuerst',
  firstText:
    'In diesem Browser ist niemand verbunden. Verbinden Sie Ihr Parcoursplan-Konto, dann erscheinen Ihre Veranstaltungen hier.',
  reconnectTitle: 'Bitte verbinden Sie sich neu',
  reconnectText:
    'Ihre Verbindung ist beendet. Was davon übrig war, haben wir gelöscht; nach dem Verbinden ist alles wieder da.',
  unavailableTitle: 'Der Dienst antwortet gerade nicht',
  unavailableText:
    'Bitte versuchen Sie es gleich noch einmal. Eine Verbindung, die Sie schon haben, bleibt erhalten.',
  notFoundTitle: 'Hier ist nichts',
  notFoundText: 'Diese Seite oder Veranstaltung gibt es nicht, oder sie gehört nicht Ihnen.',
  errorTitle: 'Bei uns ist etwas schiefgegangen',
  errorText: 'Bitte versuchen Sie es noch einmal. Geschieht es wieder, nennen Sie uns die Referenz.',
  tryAgain: 'Noch einmal versuchen',
  reference: 'Referenz',
  disconnectedTitle: 'Sie sind getrennt',
  disconnectedText:
    'Wir haben Ihre Tokens gelöscht. Ein schon ausgegebenes Zugriffstoken gilt noch bis zum Ende seiner 15 Minuten; wir haben es nicht mehr.',
  withdrawText:
    'Wenn Sie auch Ihre Einwilligung widerrufen möchten, schreiben Sie dem Betreiber des Parcoursplan-Dienstes: Dort wird sie von Hand widerrufen.',
  footer: 'Demo-Partner. Liest mit Ihrer Erlaubnis, ändert nichts.',
  skip: 'Zum Inhalt',
};

const languages: Readonly<Record<string, Messages>> = { en, de };

/** The table for an `Accept-Language` header: its first language that we have by weight, else English. */
export function messagesFor(header: string | undefined): Messages {
  const wanted = (header ?? '')
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';');
      const weight = parameters.map((text) => /^\s*q=([\d.]+)$/.exec(text)?.[1]).find(Boolean) ?? '1';
      return { language: tag.split('-')[0] ?? '', weight: Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
  const found = wanted.find(({ language }) => Object.hasOwn(languages, language));
  return (found && languages[found.language]) ?? en;
}
