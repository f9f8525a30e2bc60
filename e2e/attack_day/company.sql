-- The company's data. A statement ends with a semicolon at the end of a line; names in braces are sizes.
CREATE DATABASE shop;
CREATE DATABASE hr;
USE shop;
CREATE TABLE shop.customers (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(80), email VARCHAR(120), city VARCHAR(40));
CREATE TABLE shop.cards (customer_id INT PRIMARY KEY, card_number VARCHAR(19), valid_until DATE);
CREATE TABLE shop.products (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(80), price DECIMAL(8,2), stock INT);
CREATE TABLE shop.orders (id INT PRIMARY KEY AUTO_INCREMENT, customer_id INT, product_id INT, amount INT, at DATETIME,
    KEY (customer_id));
CREATE TABLE shop.carts (session CHAR(32) PRIMARY KEY, content TEXT);
CREATE TABLE shop.reviews (id INT PRIMARY KEY AUTO_INCREMENT, product_id INT, stars INT, words TEXT);
CREATE TABLE hr.employees (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(80), salary INT, iban VARCHAR(34));
CREATE TABLE hr.absences (employee_id INT, day DATE);
INSERT INTO shop.customers SELECT seq, CONCAT('Customer ', seq), CONCAT('c', seq, '@example.net'), ELT(seq % 5 + 1,
    'Graz', 'Linz', 'Wels', 'Enns', 'Steyr') FROM seq_1_to_{customers};
INSERT INTO shop.cards SELECT seq, CONCAT('4000', LPAD(seq * 7919, 12, '0')), '2030-01-01' FROM seq_1_to_{customers};
INSERT INTO shop.products SELECT seq, CONCAT('Product ', seq), seq % 90 + 0.99, 100 FROM seq_1_to_{products};
INSERT INTO shop.orders SELECT seq, seq % {customers} + 1, seq % {products} + 1, 1, NOW() FROM seq_1_to_{orders};
INSERT INTO shop.reviews SELECT seq, seq % {products} + 1, seq % 5 + 1, 'as expected' FROM seq_1_to_1000;
INSERT INTO hr.employees SELECT seq, CONCAT('Employee ', seq), 30000 + seq, CONCAT('AT', seq) FROM seq_1_to_{employees};
INSERT INTO hr.absences SELECT seq, NOW() FROM seq_1_to_{employees};
CREATE DEFINER = CURRENT_USER PROCEDURE shop.close_day() SELECT COUNT(*) FROM shop.orders
