// What a request accepts (RFC 9110 §12.4.2, §12.5.1).

/** Values with their weights, in lower case and the order of the header. `q=0`: not acceptable. */
export function acceptedValues(header = ''): readonly (readonly [value: string, weight: number])[] {
  return header
    .slice(0, 500)
    .toLowerCase()
    .split(',')
    .map((item) => {
      const [value = '', ...parameters] = item.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [value, weight === undefined ? 1 : Number(weight)];
    });
}

/** Browsers do; a client that takes anything does not. */
export function prefersHtml(header: string | undefined): boolean {
  const weights = new Map(acceptedValues(header));
  const weightOf = (type: string, subtype: string) =>
    weights.get(`${type}/${subtype}`) ?? weights.get(`${type}/*`) ?? weights.get('*/*') ?? 0;
  return weightOf('text', 'html') > weightOf('application', 'json');
}
