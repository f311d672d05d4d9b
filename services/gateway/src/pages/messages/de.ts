// The pages in German.
import { html } from '../html.ts';
import type { Messages } from './en.ts';

export const de: Messages = {
  serviceName: 'Course Exchange',
  title: (page, partner) => `${page}${partner ? ` – ${partner}` : ''} – Course Exchange`,
  links: { label: 'Über diesen Dienst', privacy: 'Datenschutz', imprint: 'Impressum', support: 'Support' },
  problem: 'Das hat nicht geklappt',
  reference: 'Kennung für den Support',
  signedInAs: 'Angemeldet als',
  anotherAccount: 'Abmelden und anderes Konto verwenden',
  backTo: (partner) => html`Abbrechen und zurück zu ${partner}`,
  login: {
    heading: 'Anmelden',
    intro: (partner) =>
      html`<strong>${partner}</strong> möchte sich mit Ihrem Konto verbinden. Melden Sie sich an, um fortzufahren; ohne Ihre Zustimmung wird nichts Neues weitergegeben.`,
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    forgetMe: 'Das ist ein gemeinsam genutzter Computer',
    forgetMeHint: 'Nicht angemeldet bleiben',
    button: 'Anmelden',
    forgotten: 'Passwort vergessen?',
    neverSees: (partner) => html`${partner} erfährt Ihr Passwort nicht.`,
    wrong: 'E-Mail-Adresse oder Passwort stimmt nicht.',
    typeAgain: 'Prüfen Sie E-Mail-Adresse und Passwort und versuchen Sie es noch einmal.',
    again: 'Diese Seite war veraltet und wurde erneuert. Bitte geben Sie Ihr Passwort noch einmal ein.',
    emailMissing: 'Geben Sie Ihre E-Mail-Adresse ein.',
    passwordMissing: 'Geben Sie Ihr Passwort ein.',
    tooLong: 'Diese Eingabe ist zu lang. Prüfen Sie sie und versuchen Sie es noch einmal.',
    throttled: (seconds) => `Zu viele Fehlversuche. ${tryAgainIn(seconds)}`,
    attacked: (seconds) =>
      `Zu viele Fehlversuche für dieses Konto, auch von anderswo. ${tryAgainIn(seconds)} In einem Browser oder Netz, wo Sie sich in den letzten 30 Tagen angemeldet haben, müssen Sie nicht warten. Haben Sie keines davon, fragen Sie den Support.`,
  },
  account: {
    heading: 'Mit diesem Konto fortfahren?',
    intro: (partner) => html`<strong>${partner}</strong> möchte sich mit Ihrem Konto verbinden.`,
    proceed: (name) => html`Weiter als ${name}`,
  },
  consent: {
    title: 'Zugriff auf Ihre Parcourspläne',
    titleNothing: 'Eine Verbindung, die nichts weitergibt',
    heading: (partner) => html`${partner} möchte Ihre Veranstaltungen und Parcourspläne lesen`,
    headingNothing: (partner) => html`${partner} möchte sich mit Ihrem Konto verbinden`,
    more: (partner, scopes) =>
      html`Einer Verbindung mit ${partner} haben Sie schon einmal zugestimmt. Diesmal wird auch nach ${scopes} gefragt.`,
    moreOfTheSame: 'Weitergegeben wird nicht mehr als bisher.',
    scopes: {
      openid: 'Ihren Veranstaltungen und Parcoursplänen',
      email: 'Ihrer E-Mail-Adresse',
      profile: 'Ihrem Namen',
    },
    shared: (partner) => html`Was ${partner} sehen wird`,
    events: html`<strong>Ihre Veranstaltungen:</strong> Name, Zeitraum, letzte Änderung, Zahl der Pläne und eine Kennung`,
    designs: html`<strong>Ihre Parcourspläne als Kurzfassung:</strong> Titel, Veranstaltung und deren Datum, letzte Änderung, Name der Autorin oder des Autors, Kurzbeschreibung und Kennungen`,
    name: html`<strong>Ihren Namen</strong>`,
    email: html`<strong>Ihre E-Mail-Adresse</strong> und die Angabe, ob sie bestätigt ist`,
    identifier: (partner) =>
      html`<strong>Eine Kennung Ihres Kontos,</strong> an der ${partner} Sie beim nächsten Mal erkennt`,
    whatever: 'Ihr Name und Ihre E-Mail-Adresse werden immer weitergegeben.',
    nothing: (partner) =>
      html`<strong>Nichts.</strong> Diese Verbindung gibt weder Ihren Namen und Ihre E-Mail-Adresse noch Ihre Veranstaltungen und Parcourspläne an ${partner} weiter.`,
    never: (partner) => html`Was ${partner} nie bekommt`,
    neverList: [
      'Den Parcours selbst: Geometrie und Linienführung, Hindernisse und Gruppen, Platzaufteilung und Zeichnungen',
      'Dateien: PDFs, Vorschauen, Bilder oder Links zum Herunterladen',
      'Eine Möglichkeit, etwas anzulegen, zu ändern, zu löschen oder hochzuladen',
      'Ihr Passwort oder die Sitzungen und Schlüssel (Tokens), mit denen Sie unsere Plattform nutzen',
      'Benachrichtigungen, wenn Sie etwas ändern',
      'Pläne anderer Personen, Ihres Teams oder Ihrer Organisation, selbst geteilte oder öffentliche',
      'Pläne, die Sie gelöscht haben oder die zu keiner Veranstaltung gehören',
      'Ihre Wettbewerbe, Aktivitäten oder gespeicherten Ziele',
      'Ihr Abonnement und Ihre Zahlungen oder mehr von Ihrem Profil, als hier steht',
    ],
    neverMore: 'Alles zeigen, was nie weitergegeben wird',
    neverOpened: 'Ihren Namen und Ihre E-Mail-Adresse, Ihre Veranstaltungen und Parcourspläne',
    until: 'Wie lange das gilt',
    untilText: (partner) =>
      html`Ihre Zustimmung gilt, bis Sie sie widerrufen. Wird ${partner} 30 Tage lang nicht genutzt, müssen Sie sich erneut anmelden.`,
    withdraw: (contact) => html`Um sie zu widerrufen, schreiben Sie ${contact}.`,
    support: 'unserem Support',
    operator: 'dem Betreiber von Course Exchange',
    after: (partner) =>
      html`Der Zugang endet innerhalb von 15 Minuten. ${partner} behält, was schon gelesen wurde.`,
    disconnect: (partner) =>
      html`Wenn Sie die Verbindung in ${partner} trennen, endet der Zugang. ${partner} kann sich ohne Rückfrage wieder verbinden.`,
    allow: 'Zulassen',
    deny: 'Ablehnen',
  },
  signOut: {
    heading: 'Abmelden',
    button: 'Abmelden',
    connected: 'Anwendungen, die Sie verbunden haben, bleiben verbunden.',
  },
  signedOut: {
    heading: 'Sie sind abgemeldet',
    text: 'In diesem Browser ist niemand bei Course Exchange angemeldet.',
    connected: 'Anwendungen, die Sie verbunden haben, bleiben verbunden. Sie können diese Seite schließen.',
  },
  expired: {
    heading: 'Diese Seite ist nicht mehr gültig',
    text: 'Sie ist abgelaufen, wurde schon benutzt oder in einem anderen Browser begonnen.',
    next: 'Gehen Sie zurück zu der Anwendung, von der Sie kamen, und beginnen Sie noch einmal.',
  },
  noCookies: {
    heading: 'Ihr Browser speichert unsere Cookies nicht',
    text: 'Er blockiert Cookies dieser Website, oder sie wurden gerade gelöscht. Ohne sie ist keine Anmeldung möglich.',
    next: 'Erlauben Sie Cookies für diese Website. Gehen Sie dann zurück zu der Anwendung, von der Sie kamen, und beginnen Sie noch einmal.',
  },
  start: {
    heading: 'Dies ist ein Anmeldedienst',
    text: 'Anwendungen leiten Sie hierher, wenn Sie sie mit Ihrem Konto verbinden. Diese Adresse allein führt nirgendwohin.',
    next: 'Gehen Sie zurück zu der Anwendung, die Sie verbinden möchten, und beginnen Sie dort.',
  },
  unavailable: {
    heading: 'Gerade geht es nicht weiter',
    text: 'Ein Teil unseres Dienstes antwortet nicht. Das liegt an uns und ist meist innerhalb einer Minute behoben.',
    next: 'Bitte warten Sie einen Moment und versuchen Sie es dann noch einmal.',
    again: 'Noch einmal versuchen',
  },
};

function tryAgainIn(seconds: number): string {
  return `Versuchen Sie es in ${seconds} ${seconds === 1 ? 'Sekunde' : 'Sekunden'} noch einmal.`;
}
