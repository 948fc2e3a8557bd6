test('sums are sums', () => {
  expect([1, 2, 3].reduce((sum, number) => sum + number)).toBe(6);
});
